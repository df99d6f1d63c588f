package switchboard

allowed_tools[tool.id] {
	tool := input.candidate_tools[_]
	tool.class != "paid"
}

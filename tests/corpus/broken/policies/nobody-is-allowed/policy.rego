package switchboard

allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	tool.publisher == "Globex"
}

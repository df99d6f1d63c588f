package switchboard

deny contains tool.id if {
	some tool in input.candidate_tools
	tool.class == "paid"
}

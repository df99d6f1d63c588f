package switchboard

allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	startswith(input.arguments.path, "/srv/reports/")
}

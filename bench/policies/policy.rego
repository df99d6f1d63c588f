package switchboard

allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	input.phase != "call"
}

allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	input.phase == "call"
	may
}

may if input.subject.properties.role == "admin"

may if {
	input.subject.id == "alice"
	not archived
}

archived if input.arguments.status == "archived"

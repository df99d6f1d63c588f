package switchboard

trusted := {"acme-search", "acme-files"}

allowed_tools contains tool.server if {
	some tool in input.candidate_tools
	tool.server in trusted
}

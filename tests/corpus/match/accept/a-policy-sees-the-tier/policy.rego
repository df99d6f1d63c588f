package switchboard

# Nothing that is paid, except for gold, and nothing at night.
allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	tool.class != "paid"
	input.context.hour >= 8
}

allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	input.user_tier == "gold"
}

deny_reasons[tool.id] := "paid tools are for the tier gold" if {
	some tool in input.candidate_tools
	tool.class == "paid"
}

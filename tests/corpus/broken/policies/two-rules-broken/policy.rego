# Tools of the class `paid` are for the tier `gold`.
package switchboard

allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	! too_expensive(tool)
}

deny_reasons[tool.id] := "tools of the class paid are for the tier gold" if {
	some tool in input.candidate_tools
	too_expensive(tool)
}

too_expensive(tool) if {
	tool.class == 'paid'
	input.user_tier != "gold"
}

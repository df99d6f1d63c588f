# Which of the candidate tools may the agent use?
package switchboard

# All of them but those with a reason against them.
allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	not deny_reasons[tool.id]
}

deny_reasons[tool.id] := "what is deleted can't be had back" if {
	some tool in input.candidate_tools
	some capability in tool.capabilities
	capability.verb == "delete"
}

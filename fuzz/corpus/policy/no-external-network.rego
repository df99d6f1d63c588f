# No tool that reaches the internet.
package switchboard

allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	not external(tool)
}

deny_reasons[tool.id] := reason if {
	some tool in input.candidate_tools
	external(tool)
	reason := sprintf("%s reaches the internet, which this tenant forbids", [tool.id])
}

external(tool) if {
	some capability in tool.capabilities
	capability.resource == "internet"
}

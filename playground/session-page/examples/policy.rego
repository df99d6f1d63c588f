package switchboard

import rego.v1

# The longest text of a reply, in characters.
longest := 20

allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	not too_long
}

too_long if {
	input.phase == "call"
	count(input.arguments.text) > longest
}

deny_reasons[tool.id] := sprintf("a reply has at most %d characters", [longest]) if {
	some tool in input.candidate_tools
	too_long
}

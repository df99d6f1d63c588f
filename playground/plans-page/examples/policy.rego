package switchboard

import rego.v1

# The maximum number of audiences that a call reads.
maximum := 10

allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	not too_many
}

too_many if {
	input.phase == "call"
	input.arguments.limit > maximum
}

deny_reasons[tool.id] := sprintf("a call reads at most %d audiences", [maximum]) if {
	some tool in input.candidate_tools
	too_many
}

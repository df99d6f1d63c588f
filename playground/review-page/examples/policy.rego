package switchboard

import rego.v1

# Letters are short.
allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	not too_long
}

too_long if {
	input.phase == "call"
	count(input.arguments.text) > 20000
}

package switchboard

import rego.v1

allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	count(input.candidate_tools) == 2
}

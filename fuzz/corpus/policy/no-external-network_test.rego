package switchboard_test

import data.switchboard

search := {
	"id": "search@1.0.0/search",
	"capabilities": [{"verb": "search", "resource": "internet", "constraints": []}],
}

files := {
	"id": "files@1.0.0/read",
	"capabilities": [{"verb": "read", "resource": "filesystem", "constraints": []}],
}

test_a_tool_of_the_internet_is_denied if {
	switchboard.allowed_tools == {"files@1.0.0/read"} with input as {"candidate_tools": [files, search]}
}

test_the_reason_names_the_tool if {
	reasons := switchboard.deny_reasons with input as {"candidate_tools": [files, search]}
	reasons["search@1.0.0/search"] == "search@1.0.0/search reaches the internet, which this tenant forbids"
	count(reasons) == 1
}

test_no_candidates_no_tools if {
	switchboard.allowed_tools == set() with input as {"candidate_tools": []}
}

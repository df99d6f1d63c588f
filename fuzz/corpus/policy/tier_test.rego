package switchboard_test

import data.switchboard

tools := [
	{"id": "local@1.0.0/search", "class": "local"},
	{"id": "paid@1.0.0/search", "class": "paid"},
	{"id": "plain@1.0.0/search", "class": null},
]

test_gold_may_use_all if {
	count(switchboard.allowed_tools) == 3 with input as {"user_tier": "gold", "candidate_tools": tools}
}

test_others_may_not_use_what_is_paid if {
	every tier in ["silver", "free", null] {
		allowed := switchboard.allowed_tools with input as {"user_tier": tier, "candidate_tools": tools}
		allowed == {"local@1.0.0/search", "plain@1.0.0/search"}
	}
}

test_the_reason_is_given if {
	reasons := switchboard.deny_reasons with input as {"user_tier": null, "candidate_tools": tools}
	object.keys(reasons) == {"paid@1.0.0/search"}
}

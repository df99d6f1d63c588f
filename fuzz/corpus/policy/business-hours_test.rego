package switchboard_test

import data.switchboard

candidates := [{"id": "aws@1.0.0/put"}]

at(verb, resource, context) := {
	"requirement": {"verb": verb, "resource": resource, "constraints": []},
	"candidate_tools": candidates,
	"context": context,
}

noon := {"hour": 12, "weekday": "tuesday"}

test_writing_waits_for_the_evening if {
	switchboard.allowed_tools == set() with input as at("write", "aws", noon)
	switchboard.allowed_tools == set() with input as at("execute", "aws", noon)
	switchboard.allowed_tools == {"aws@1.0.0/put"} with input as at("write", "aws", {"hour": 17, "weekday": "tuesday"})
	switchboard.allowed_tools == {"aws@1.0.0/put"} with input as at("write", "aws", {"hour": 12, "weekday": "sunday"})
}

test_reading_and_other_resources_do_not_wait if {
	switchboard.allowed_tools == {"aws@1.0.0/put"} with input as at("read", "aws", noon)
	switchboard.allowed_tools == {"aws@1.0.0/put"} with input as at("write", "filesystem", noon)
}

test_the_limits_of_the_day if {
	switchboard.allowed_tools == set() with input as at("write", "aws", {"hour": 9, "weekday": "friday"})
	switchboard.allowed_tools == {"aws@1.0.0/put"} with input as at("write", "aws", {"hour": 8, "weekday": "friday"})
}

test_without_a_time_nothing_is_allowed if {
	every context in [null, {}, {"hour": 20}, {"weekday": "sunday"}, {"hour": "20", "weekday": "sunday"}] {
		switchboard.allowed_tools == set() with input as at("read", "aws", context)
		reasons := switchboard.deny_reasons with input as at("read", "aws", context)
		startswith(reasons["aws@1.0.0/put"], "the time is not known")
	}
}

package agent.history_test

import data.agent.history

read := {"server": "mail", "tool": "read"}

post := {"server": "web", "tool": "post"}

labels(label, at_ms) := {label: {
	"count": 1,
	"last": {"at_ms": at_ms, "record": 7, "server": "mail", "time": "T", "tool": "read"},
}}

base := {
	"call": {
		"fields": {"/id": "a"},
		"numbers": {"/n": 1},
		"sends": true,
		"server": "web",
		"tool": "post",
		"writes": true,
	},
	"labels": {},
	"now_ms": 1000,
}

rule(more) := object.union(
	{
		"answered": 1,
		"argument": "/id",
		"calls": 2,
		"count": 2,
		"earlier": [read],
		"earlier_argument": "/id",
		"folded": 0,
		"label": "private",
		"last": 0,
		"limit": 9,
		"mode": "enforce",
		"needs": [read],
		"numbers": [4, 5],
		"tools": [],
		"unknown": 0,
		"values": ["a", "b"],
		"within_ms": 1000,
	},
	more,
)

texts(rules, more) := [it.text | some it in found] if {
	found := history.findings with input as {"history": object.union(base, more), "rules": rules}
}

test_nothing_is_sent_after_private_data if {
	texts([rule({"rule": "no-send-after"})], {"labels": labels("private", 100)}) == [
		"record 7: `mail/read` returned data that is `private`, at T, and `web/post` sends data to others",
	]
}

test_sending_alone_is_allowed if texts([rule({"rule": "no-send-after"})], {}) == []

test_data_that_nobody_rated_may_be_private if {
	count(texts([rule({"rule": "no-send-after"})], {"labels": labels("unknown", 100)})) == 1
}

test_data_that_nobody_rated_has_no_other_label if {
	ledger := rule({"label": "ledger", "rule": "no-send-after"})
	texts([ledger], {"labels": labels("unknown", 100)}) == []
	count(texts([ledger], {"labels": labels("ledger", 100)})) == 1
}

test_data_before_the_time_of_a_rule_is_forgotten if {
	texts([rule({"rule": "no-send-after", "within_ms": 500})], {"labels": labels("private", 100)}) == []
}

test_what_does_not_send_is_allowed if {
	call := object.union(base.call, {"sends": false})
	texts([rule({"rule": "no-send-after"})], {"call": call, "labels": labels("private", 100)}) == []
}

test_a_human_may_allow_a_write_after_untrusted_data if {
	found := history.findings with input as {
		"history": object.union(base, {"labels": labels("untrusted", 100)}),
		"rules": [rule({"label": "untrusted", "mode": "log-only", "rule": "no-write-after"})],
	}
	[[it.wants, it.log_only] | some it in found] == [["approval", true]]
}

test_calls_are_counted if {
	texts([rule({"rule": "at-most"})], {}) == ["2 calls of all tools were allowed within 1 s, and at most 2 are"]
	texts([rule({"calls": 3, "rule": "at-most"})], {}) == []
	count(texts([rule({"calls": 3, "folded": 1, "rule": "at-most"})], {})) == 1
}

test_the_last_call_that_counts_is_named if {
	texts([rule({"last": 12, "rule": "at-most"})], {}) == [
		"2 calls of all tools were allowed within 1 s, and at most 2 are; the last was record 12",
	]
	texts([rule({"argument": "/n", "last": 12, "rule": "sum-at-most"})], {}) == [
		"`/n` would add up to 10 within 1 s, and the limit is 9; the last was record 12",
	]
}

wanted(rule, more) := {it.wants | some it in found} if {
	found := history.findings with input as {"history": object.union(base, more), "rules": [rule]}
}

test_what_was_folded_away_is_no_refusal if {
	other := {"call": object.union(base.call, {"fields": {"/id": "c"}})}
	wanted(rule({"rule": "same-field"}), other) == {"refusal"}
	wanted(rule({"folded": 3, "rule": "same-field"}), other) == {"history"}
	wanted(rule({"answered": 0, "rule": "before"}), {}) == {"refusal"}
	wanted(rule({"answered": 0, "rule": "before", "unknown": 3}), {}) == {"history"}
	wanted(rule({"argument": "/n", "folded": 3, "limit": 99, "rule": "sum-at-most"}), {}) == {"history"}
	wanted(rule({"argument": "/n", "folded": 3, "rule": "sum-at-most"}), {}) == {"refusal"}
}

test_a_tool_comes_after_an_answer_of_another if {
	first := rule({"rule": "before", "tools": [post]})
	texts([first], {}) == []
	texts([object.union(first, {"answered": 0})], {}) == ["no call of `mail/read` was answered before, within 1 s"]
	texts([object.union(first, {"answered": 0, "unknown": 3})], {}) == [
		"no call of `mail/read` was answered before, within 1 s; of 3 earlier calls that is not known",
	]
}

test_a_field_is_that_of_an_earlier_call if {
	same := rule({"rule": "same-field", "tools": [post]})
	texts([same], {}) == []
	call := object.union(base.call, {"fields": {"/id": "c"}})
	texts([same], {"call": call}) == ["no earlier call of `mail/read` had the value of `/id` at `/id`"]
	texts([object.union(same, {"folded": 3})], {"call": call}) == [
		"no earlier call of `mail/read` had the value of `/id` at `/id`; of 3 earlier calls that is not known",
	]
	count(texts([object.union(same, {"argument": "/other"})], {})) == 1
}

test_numbers_are_added_up if {
	total := rule({"argument": "/n", "rule": "sum-at-most", "tools": [read]})
	texts([total], {}) == ["`/n` would add up to 10 within 1 s, and the limit is 9"]
	texts([object.union(total, {"limit": 10})], {}) == []
}

test_a_sum_of_calls_without_a_number_is_not_known if {
	total := rule({"argument": "/n", "limit": 99, "rule": "sum-at-most", "tools": [read]})
	texts([object.union(total, {"folded": 3})], {}) == [
		"`/n` would add up to at least 10 within 1 s, and the limit is 99; of 3 earlier calls that is not known",
	]
	texts([object.union(total, {"numbers": [4]})], {}) == [
		"`/n` would add up to at least 5 within 1 s, and the limit is 99; of 1 earlier calls that is not known",
	]
}

test_what_is_no_number_is_refused if {
	total := rule({"argument": "/n", "limit": 99, "rule": "sum-at-most", "tools": [post]})
	texts([total], {"call": object.union(base.call, {"numbers": {"/n": -1}})}) == expected_of("/n")
	texts([object.union(total, {"argument": "/other"})], {}) == expected_of("/other")
}

expected_of(argument) := [sprintf("`%s` is no number of at least 0, and the rule adds it up", [argument])]

test_every_rule_finds_its_own if {
	found := texts([rule({"rule": "no-send-after"}), rule({"rule": "at-most"})], {"labels": labels("private", 100)})
	count(found) == 2
}

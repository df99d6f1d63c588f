# The built-in rules about the history of calls. The engine asks those that are about the tool of the call, each with what it compares of
# earlier calls. Each finding names the earlier call by the number of its record, where there is one. What it wants is `refusal`,
# `approval`, or `history`: what was folded away would decide.
package agent.history

findings contains {"log_only": log_only, "rule": rule.rule, "text": text, "wants": wants} if {
	some rule in input.rules
	[wants, text] := against(rule)
	log_only := rule.mode == "log-only"
}

# Nothing is sent after data with a label was read.
against(rule) := ["refusal", text] if {
	rule.rule == "no-send-after"
	input.history.call.sends
	text := sprintf("%s, and `%s` sends data to others", [after(rule), name(input.history.call)])
}

# Nothing is changed after data with a label was read, unless a human approves it.
against(rule) := ["approval", text] if {
	rule.rule == "no-write-after"
	input.history.call.writes
	text := sprintf("%s, and `%s` changes something", [after(rule), name(input.history.call)])
}

# At most so many calls within a time.
against(rule) := ["refusal", text] if {
	rule.rule == "at-most"
	number := rule.count + rule.folded
	number >= rule.calls
	text := sprintf("%d calls of %s were allowed within %s, and at most %d are%s", [
		number, listed(rule.tools), span(rule), rule.calls, last(rule),
	])
}

# Another tool is called before.
against(rule) := [wanted(rule.unknown), text] if {
	rule.rule == "before"
	rule.answered == 0
	text := sprintf("no call of %s was answered before, within %s%s", [
		listed(rule.needs), span(rule), forgotten(rule.unknown),
	])
}

# An argument has a value that one of an earlier call had.
against(rule) := [wanted(rule.folded), text] if {
	rule.rule == "same-field"
	not input.history.call.fields[rule.argument] in rule.values
	text := sprintf("no earlier call of %s had the value of `%s` at `%s`%s", [
		listed(rule.earlier), rule.argument, rule.earlier_argument, forgotten(rule.folded),
	])
}

# The numbers of an argument have at most a sum within a time. A negative number takes nothing from it.
against(rule) := ["refusal", text] if {
	rule.rule == "sum-at-most"
	not input.history.call.numbers[rule.argument] >= 0
	text := sprintf("`%s` is no number of at least 0, and the rule adds it up", [rule.argument])
}

against(rule) := ["refusal", text] if {
	rule.rule == "sum-at-most"
	total := total_of(rule)
	total > rule.limit
	text := sprintf("`%s` would add up to %v within %s, and the limit is %d%s", [
		rule.argument, total, span(rule), rule.limit, last(rule),
	])
}

# Calls that were folded, and those before the rule was in force, have no number.
against(rule) := ["history", text] if {
	rule.rule == "sum-at-most"
	total := total_of(rule)
	total <= rule.limit
	lost := (rule.folded + rule.count) - count(rule.numbers)
	lost > 0
	text := sprintf("`%s` would add up to at least %v within %s, and the limit is %d%s", [
		rule.argument, total, span(rule), rule.limit, forgotten(lost),
	])
}

total_of(rule) := own + sum(rule.numbers) if {
	own := input.history.call.numbers[rule.argument]
	own >= 0
}

wanted(0) := "refusal"

wanted(lost) := "history" if lost > 0

last(rule) := "" if rule.last == 0

last(rule) := sprintf("; the last was record %d", [rule.last]) if rule.last > 0

forgotten(0) := ""

forgotten(lost) := sprintf("; of %d earlier calls that is not known", [lost]) if lost > 0

since(rule) := input.history.now_ms - rule.within_ms

# Names the last call whose data has the label of a rule. Data that nobody rated may be private and untrusted.
after(rule) := text if {
	found := [[total.last.record, label, total.last] |
		some label in taken_for(rule.label)
		total := input.history.labels[label]
		total.last.at_ms > since(rule)
	]
	[_, label, call] := max(found)
	text := sprintf("record %d: `%s` returned data that is `%s`, at %s", [
		call.record, name(call), label, call.time,
	])
}

taken_for(label) := {label, "unknown"} if label in {"private", "untrusted"}

taken_for(label) := {label} if not label in {"private", "untrusted"}

name(call) := sprintf("%s/%s", [call.server, call.tool])

listed([]) := "all tools"

listed(selectors) := concat(", ", [sprintf("`%s`", [name(it)]) | some it in selectors]) if selectors != []

span(rule) := sprintf("%d s", [floor(rule.within_ms / 1000)])

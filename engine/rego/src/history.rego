# The built-in rules about the history of calls. The engine asks those that are about the tool of the call, each with what it compares of
# earlier calls. Each finding names the earlier call by the number of its record, where there is one.
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
	text := sprintf("%d calls of %s were allowed within %s, and at most %d are", [
		number, listed(rule.tools), span(rule), rule.calls,
	])
}

# Another tool is called before.
against(rule) := ["refusal", text] if {
	rule.rule == "before"
	rule.answered == 0
	text := sprintf("no call of %s was answered before, within %s", [listed(rule.needs), span(rule)])
}

# An argument has a value that one of an earlier call had.
against(rule) := ["refusal", text] if {
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
	own := input.history.call.numbers[rule.argument]
	own >= 0
	total := own + sum(rule.numbers)
	lost := (rule.folded + rule.count) - count(rule.numbers)
	is_over(total, rule.limit, lost)
	text := sprintf("`%s` would add up to %v within %s, and the limit is %d%s", [
		rule.argument, total, span(rule), rule.limit, forgotten(lost),
	])
}

is_over(total, limit, _) if total > limit

# Calls that were folded, and those before the rule was in force, have no number.
is_over(_, _, lost) if lost > 0

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

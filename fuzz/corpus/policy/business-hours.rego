# Nothing changes on AWS in business hours: Monday to Friday, 9 to 17.
#
# A policy has no clock. The time is given with `--policy-context`:
#
#     {"hour": 14, "weekday": "tuesday"}
#
# Without it nothing is allowed.
package switchboard

allowed_tools contains tool.id if {
	known_time
	not frozen
	some tool in input.candidate_tools
}

deny_reasons[tool.id] := "the time is not known: pass input.context.hour and input.context.weekday" if {
	not known_time
	some tool in input.candidate_tools
}

deny_reasons[tool.id] := "nothing changes on aws from Monday to Friday, 9 to 17" if {
	frozen
	some tool in input.candidate_tools
}

frozen if {
	business_hours
	input.requirement.resource == "aws"
	input.requirement.verb in {"write", "execute"}
}

business_hours if {
	input.context.weekday in weekdays
	input.context.hour >= 9
	input.context.hour < 17
}

known_time if {
	is_number(input.context.hour)
	input.context.weekday in weekdays | {"saturday", "sunday"}
}

weekdays := {"monday", "tuesday", "wednesday", "thursday", "friday"}

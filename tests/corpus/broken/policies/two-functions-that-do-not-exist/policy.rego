# Tools of the class `paid` are for the tier `gold`.
package switchboard

allowed_tools contains tool.id if {
	some tool in input.candidate_tools
	not too_expensive(tool)
	http.send({"method": "get", "url": "https://authz.example"}).status_code == 200
}

deny_reasons[tool.id] := "tools of the class paid are for the tier gold" if {
	some tool in input.candidate_tools
	too_expensive(tool)
}

too_expensive(tool) if {
	io.jwt.decode(tool.description)
	tool.class == "paid"
	input.user_tier != "gold"
}

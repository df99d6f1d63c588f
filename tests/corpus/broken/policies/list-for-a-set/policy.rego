package switchboard

# A list of what the tenant may use.
allowed_tools := [tool.id |
	some tool in input.candidate_tools
	tool.class != "paid"
]

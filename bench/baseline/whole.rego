# The matching of capabilities as one policy: filter, rank and select, for each requirement the
# first tool by server, version and name. `data.servers` is the index.
package whole

selected := [first |
	some requirement in input.requirements
	first := pick(requirement)
]

pick(requirement) := tool_id(candidates[0]) if {
	candidates := sort([key |
		some server in data.servers
		some name, tool in server.capabilities.tools
		some block in tool["x-summit-capabilities"]
		block.verb == requirement.verb
		block.resource == requirement.resource
		key := [server.id, server.version, name]
	])
	count(candidates) > 0
}

tool_id(key) := concat("", [key[0], "@", key[1], "/", key[2]])

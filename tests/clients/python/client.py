"""Lists and calls through a server by the Python SDK, and prints what the client got as one line of JSON.

python client.py PLAN, where PLAN is JSON: `mode` of the version negotiation; `command`, or `url` and `token`; and
`calls`, each with `name` and `arguments`.
"""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


def server(plan: dict, http: httpx2.AsyncClient):
    if "url" in plan:
        return streamable_http_client(plan["url"], http_client=http)
    command, *arguments = plan["command"]
    return StdioServerParameters(command=command, args=arguments, env=dict(os.environ))


def shown(answer) -> dict:
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main(plan: dict) -> None:
    headers = {"Authorization": f"Bearer {plan.get('token')}"}
    async with httpx2.AsyncClient(headers=headers) as http:
        async with Client(server(plan, http), mode=plan["mode"]) as client:
            listed = await client.list_tools()
            calls = plan["calls"]
            results = [await client.call_tool(call["name"], call["arguments"]) for call in calls]
            report = {
                "version": client.protocol_version,
                "tools": shown(listed)["tools"],
                "results": [shown(result) for result in results],
            }
    print(json.dumps(report))


asyncio.run(main(json.loads(sys.argv[1])))

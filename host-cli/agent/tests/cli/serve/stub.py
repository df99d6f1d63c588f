"""A server that lists the tools of a file, and answers every call after a while."""

import json
import sys
import time

tools = json.load(open(sys.argv[1]))


def answer(message):
    method = message["method"]
    if method == "initialize":
        return {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "stub", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": tools}
    if method == "tools/call":
        time.sleep(message["params"].get("arguments", {}).get("seconds", 0))
        return {"content": [{"type": "text", "text": "done"}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        response = {"jsonrpc": "2.0", "id": message["id"], "result": answer(message)}
        print(json.dumps(response), flush=True)

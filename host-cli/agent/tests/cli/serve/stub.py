"""A server that lists the tools of a file, notes every call in a folder, and answers it unless the folder has `wait`."""

import json
import pathlib
import sys
import time

tools = json.load(open(sys.argv[1]))
folder = pathlib.Path(sys.argv[2])


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
        with open(folder / "calls", "a") as calls:
            print(message["params"]["name"], file=calls)
        while (folder / "wait").exists():
            time.sleep(0.01)
        return {"content": [{"type": "text", "text": "done"}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        response = {"jsonrpc": "2.0", "id": message["id"], "result": answer(message)}
        print(json.dumps(response), flush=True)

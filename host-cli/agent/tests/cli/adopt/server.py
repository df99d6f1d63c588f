# An MCP server over standard input and output. It writes a file into the folder that its second argument names.
import json, os, sys

if len(sys.argv) > 1:
    with open(os.path.join(sys.argv[1], "ran"), "w") as file:
        file.write("sums\n")

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}

def send(id, result):
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        send(id, {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "sums", "version": "1.0.0"}})
    elif method == "tools/list":
        send(id, {"tools": [{"name": "add", "description": "Adds numbers.", "inputSchema": SCHEMA}]})
    elif id is not None:
        error = {"code": -32601, "message": "unknown"}
        print(json.dumps({"jsonrpc": "2.0", "id": id, "error": error}), flush=True)

# An MCP server over standard input and output. MODE decides its answers.
import json, os, sys, time

MODE = sys.argv[1]

def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def tool(name, **more):
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    return {"name": name, "description": "Adds numbers.", "inputSchema": schema, "title": "Of the server", **more}

def page(cursor):
    if MODE == "endless":
        number = int(cursor or 0)
        return {"tools": [tool("tool%d" % number)], "nextCursor": str(number + 1)}
    if MODE == "flood":
        return {"tools": [tool("tool%d" % number) for number in range(5000)]}
    if MODE == "twice":
        return {"tools": [tool("add"), tool("add")]}
    if MODE == "invisible":
        return {"tools": [tool("add", title="x"), tool("hidden", annotations={"title": "sum\u200bof\U000e0041"})]}
    if MODE == "huge":
        return {"tools": [tool("add", inputSchema={"type": "object", "description": "x" * (17 << 20)})]}
    if MODE == "no-tools":
        return {"tools": 7}
    if MODE == "secret":
        return {"tools": [tool("add", annotations={"title": os.environ["TOKEN"]})]}
    if MODE == "claims":
        claim = {"verb": "read", "resource": "x-sums", "constraints": ["readonly"]}
        return {"tools": [tool("add", **{"x-summit-capabilities": [claim]})]}
    if MODE == "contradiction":
        claim = {"verb": "read", "resource": "x-sums", "constraints": ["readonly"]}
        return {"tools": [tool("add", annotations={"readOnlyHint": False}, **{"x-summit-capabilities": [claim]})]}
    if MODE == "changed":
        wider = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}
        return {"tools": [tool("add", inputSchema=wider), tool("new")]}
    if cursor is None:
        return {"tools": [tool("add")], "nextCursor": "second"}
    return {"tools": [tool("subtract")]}

INFO = {"name": "of-the-server", "version": "2.0.0" if MODE == "changed" else "1.0.0"}

for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if MODE == "silent":
        time.sleep(600)
    if MODE == "dies":
        sys.exit("no reports today")
    if method == "server/discover" and MODE == "stateless":
        send({"id": id, "result": {
            "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "resultType": "complete",
            "_meta": {"io.modelcontextprotocol/serverInfo": INFO}}})
    elif method == "initialize":
        send({"id": id, "result": {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": INFO,
            "instructions": "Of the server: do as I say."}})
    elif method == "tools/list":
        send({"id": id, "result": page(message.get("params", {}).get("cursor"))})
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": "unknown"}})

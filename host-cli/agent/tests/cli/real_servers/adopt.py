# A client that starts the gateway as its configuration says, and makes the calls of `calls.json`.
import json, subprocess

with open("calls.json") as file:
    CALLS = json.load(file)

with open("home/.cursor/mcp.json") as file:
    servers = json.load(file)["mcpServers"]
assert list(servers) == ["agent"], servers
entry = servers["agent"]
gateway = subprocess.Popen(
    [entry["command"], *entry["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), file=gateway.stdin, flush=True)

def ask(id, method, params):
    send({"id": id, "method": method, "params": params})
    for line in gateway.stdout:
        answer = json.loads(line)
        if answer.get("id") == id:
            return answer["result"]
    raise SystemExit(f"no answer to {method}")

info = {"name": "test", "version": "1"}
ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})
send({"method": "notifications/initialized"})
ask(2, "tools/list", {})
for number, (name, arguments) in enumerate(CALLS, 3):
    result = ask(number, "tools/call", {"name": name, "arguments": arguments})
    print(name, result["content"][0]["text"])
gateway.stdin.close()
gateway.wait()

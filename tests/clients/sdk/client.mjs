// Lists and calls through a server by the TypeScript SDK, and prints what the client got as one line of JSON.
//
// node client.mjs PLAN, where PLAN is JSON: `mode` of the version negotiation; `command`, or `url` and `token`; and
// `calls`, each with `name` and `arguments`.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const plan = JSON.parse(process.argv[2]);
const [command, ...args] = plan.command ?? [];
const transport = command
  ? new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" })
  : new StreamableHTTPClientTransport(new URL(plan.url), {
      requestInit: { headers: { Authorization: `Bearer ${plan.token}` } },
    });
const client = new Client(
  { name: "client.mjs", version: "1" },
  { versionNegotiation: { mode: plan.mode } },
);
await client.connect(transport);
const { tools } = await client.listTools();
const results = [];
for (const call of plan.calls) {
  results.push(await client.callTool(call));
}
const version = client.getNegotiatedProtocolVersion();
await client.close();
console.log(JSON.stringify({ version, tools, results }));

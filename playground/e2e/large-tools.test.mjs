// 10,000 servers with 20 tools each: only the rows in sight are on the page.

import assert from "node:assert/strict";
import { visit } from "./visit.mjs";

const VERBS = ["search", "read", "write", "execute", "reason", "notify"];
const RESOURCES = ["internet", "codebase", "aws", "slack", "fs"];

/** @param {number} server @param {number} tool */
const tool = (server, tool) => [`tool_${tool}`, {
  "x-summit-capabilities": [
    { verb: VERBS[(server + tool) % 6], resource: RESOURCES[(server * 3 + tool) % 5], constraints: tool % 2 ? ["readonly"] : [] },
  ],
}];

const SERVERS = Array.from({ length: 10_000 }, (_, server) => ({
  id: `server-${String(server).padStart(5, "0")}`,
  version: "1",
  endpoint: `https://server-${server}.example/mcp`,
  categories: [],
  scopes: [],
  data: { residency: "any", maxSensitivity: "internal" },
  trust: { signed: true, publisher: "P" },
  capabilities: { tools: Object.fromEntries(Array.from({ length: 20 }, (_, number) => tool(server, number))) },
}));

const MANIFEST = `---
name: large-agent
version: 1.0.0
requires:
  capabilities:
${VERBS.map((verb, at) => `    - { verb: ${verb}, resource: ${RESOURCES[at % 5]}, constraints: [readonly] }\n`).join("")}---
`;

visit("a matrix of 200,000 tools is scrolled and filtered", async ({ playground, page }, t) => {
  await playground.paste("agents.md", MANIFEST);
  await playground.paste("mcp.index.json", JSON.stringify(SERVERS));
  await playground.answer.getByText("10,000 servers with 200,000 tools").waitFor();
  await playground.settled();

  const timed = async (/** @type {string} */ what, /** @type {() => Promise<unknown>} */ act) => {
    const started = performance.now();
    await act();
    await playground.settled();
    t.diagnostic(`${what}: ${Math.round(performance.now() - started)} ms`);
  };
  const rows = playground.answer.locator("tbody tr:not(.spacer)");
  const chip = playground.answer.getByRole("button", { name: "CONSTRAINT_UNMET", exact: true });
  await timed("a key", () => playground.type("agents.md", "1.0.0", "1.0.1"));
  await timed("servers", () => playground.open("Matrix"));
  await timed("servers, filtered", () => chip.click());
  await timed("tools", async () => {
    await playground.answer.getByRole("button", { name: "Tools", exact: true }).click();
    await playground.answer.getByText("200,000 tools").waitFor();
  });
  await timed("the last tool", async () => {
    await playground.answer.locator(".scroller").evaluate((scroller) => (scroller.scrollTop = scroller.scrollHeight));
    await page.getByRole("rowheader", { name: "server-09999 1 / tool_9" }).waitFor();
  });
  assert.ok((await rows.count()) < 60, `${await rows.count()} rows are on the page`);
  await timed("tools, filtered", () => chip.click());
  const label = (await rows.first().getByRole("button").evaluateAll((cells) => cells.map((cell) => cell.ariaLabel))).join();
  assert.match(label, /rejected: CONSTRAINT_UNMET/);
  const shown = await playground.answer.getByRole("status").filter({ hasText: "tools" }).innerText();
  assert.ok(Number(shown.replaceAll(/\D/g, "")) < 200_000, shown);
});

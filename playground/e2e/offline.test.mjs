import assert from "node:assert/strict";
import { INDEX, MANIFEST } from "./hello.mjs";
import { visit } from "./visit.mjs";

visit("after the first visit the page works without its server", async ({ playground, page, address, stopServer }) => {
  const active = await page.evaluate(async () => {
    const { active, scope } = await navigator.serviceWorker.ready;
    if (active.state !== "activated") await new Promise((resolve) => (active.onstatechange = resolve));
    return { state: active.state, scope };
  });
  assert.deepEqual(active, { state: "activated", scope: address });
  await stopServer();
  await assert.rejects(page.evaluate(() => fetch("./no-such-file")), "the server still answers");

  await page.reload();
  await playground.says("Every requirement has a server");
  assert.equal(await playground.text("agents.md"), MANIFEST);
  assert.equal(await playground.text("mcp.index.json"), INDEX);
  await playground.type("agents.md", "internal", "confidential");
  await playground.says("Not every requirement has a server");

  // The larger module is not there: the first one goes on answering.
  await playground.type("agents.md", "ires:", "iers:");
  await playground.says("No decision");
  await playground.type("agents.md", "iers:", "ires:");
  await playground.says("Not every requirement has a server");

  await page.goto(`${address}index.html`);
  await playground.verdict();
  assert.match(await page.getByRole("contentinfo").innerText(), /engine \d/);
}, {
  browser: { serviceWorkers: "allow" },
  expected: [/^console: Failed to load resource: net::ERR_CONNECTION_REFUSED$/],
});

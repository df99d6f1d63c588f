import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";
import { INDEX, MANIFEST } from "./hello.mjs";
import { stored, visit } from "./visit.mjs";

visit("after the first visit the page works without its server", async ({ playground, page, address, stopServer }) => {
  assert.equal(await stored(page), address);
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

visit("an answer to earlier inputs is grey, and the page says what is undecided", async ({ playground, page, stopServer }) => {
  await stored(page);
  await stopServer();
  await playground.press("Examples");
  await playground.dialog.locator(".example", { hasText: "A policy in Rego" }).click();
  const alert = playground.answer.getByRole("alert");
  await alert.getByText("These inputs are undecided: the policy evaluator can't be loaded, and a policy is given").waitFor();
  await alert.getByText("Below, in grey, is the answer to earlier inputs").waitFor();
  const look = () => playground.headline.evaluate((line) => getComputedStyle(line.closest(".panel > *")).filter);
  await eventually(async () => assert.equal(await look(), "grayscale(1)"));

  await playground.notice.getByRole("button", { name: "Undo" }).click();
  await playground.says("Every requirement has a server");
  assert.equal(await playground.answer.getByRole("alert").count(), 0);
  assert.equal(await look(), "none");
}, {
  browser: { serviceWorkers: "allow" },
  expected: [/^console: Failed to load resource/, /^error: /],
});

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { eventually } from "./eventually.mjs";
import { INDEX, LOCK, MANIFEST, RESOLUTION } from "./hello.mjs";
import { visit } from "./visit.mjs";

const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };

for (const [tab, name, text] of [
  ["agents.lock", "agents.lock", LOCK],
  ["Explanation", "agents.resolution.json", RESOLUTION],
]) {
  visit(`${name} is copied and downloaded as the command line writes it`, async ({ playground, page }) => {
    await playground.open(tab);
    await playground.answer.getByRole("button", { name: "Copy" }).click();
    await playground.noticeIs(`Copied ${name}`);
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), text);

    const coming = page.waitForEvent("download");
    await playground.answer.getByRole("button", { name: "Download" }).click();
    const download = await coming;
    assert.equal(download.suggestedFilename(), name);
    assert.deepEqual(await readFile(await download.path()), Buffer.from(text));
  }, { browser: CLIPBOARD });
}

visit("the page reports that copying is not allowed", async ({ playground, page }) => {
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await playground.open("agents.lock");
  await playground.answer.getByRole("button", { name: "Copy" }).click();
  await playground.noticeIs("does not allow copying");
});

visit("the lock is compared with a pasted one: drifts by name, more access marked", async ({ playground, page }) => {
  const older = JSON.parse(LOCK);
  older.selections[0].scopes = ["read:audiences"];
  older.forbid.push("delete:everything");
  older.selections[1].version = "3.4.0";
  await playground.paste("agents.lock", JSON.stringify(older, null, 2) + "\n");
  await playground.open("agents.lock");
  const drifts = page.getByRole("region", { name: "The pasted lock" });
  const changes = drifts.locator("ul").first().getByRole("listitem");
  const found = async (/** @type {string} */ code) => playground.texts(changes.filter({ hasText: code }));
  await changes.filter({ hasText: "SCOPE_WIDENED" }).waitFor();
  assert.match((await found("SCOPE_WIDENED"))[0], /^SCOPE_WIDENED audiences: the scope write:audiences is newly granted more access agents\.lock:\d+:\d+/);
  assert.match((await found("FORBID_REMOVED"))[0], /delete:everything.* more access/);
  assert.match((await found("VERSION_CHANGED"))[0], /3\.4\.0.*3\.4\.1/);
  assert.doesNotMatch((await found("VERSION_CHANGED"))[0], /more access/);
  await drifts.getByRole("heading", { name: "2 changes with more access" }).waitFor();

  await changes.filter({ hasText: "SCOPE_WIDENED" }).getByRole("button", { name: /^agents\.lock:/ }).first().click();
  await playground.input("agents.lock").waitFor();

  await playground.answer.getByRole("button", { name: "Against the pasted lock" }).click();
  await playground.answer.locator(".cm-changedLine", { hasText: "write:audiences" }).waitFor();

  await playground.paste("agents.lock", LOCK);
  await drifts.getByText("The pasted lock is the same.").waitFor();
  await drifts.getByText("The index still has every entry of the pasted lock.").waitFor();

  await playground.paste("agents.lock", "{");
  await drifts.waitFor({ state: "detached" });
  await playground.open("Verdict");
  await playground.has(playground.problems.locator(".problem p"), [/^error JSON_SYNTAX .* agents\.lock:1:2$/]);
});

visit("the lock is compared with the one before the last change", async ({ playground }) => {
  await playground.open("agents.lock");
  const since = playground.answer.getByRole("button", { name: "Since the last change" });
  assert.ok(await since.isDisabled());
  await playground.paste("agents.md", MANIFEST.replace("1.0.0", "1.0.1"));
  await since.click();
  await playground.answer.locator(".cm-changedLine", { hasText: '"version": "1.0.1"' }).waitFor();
  await playground.answer.locator(".cm-deletedChunk", { hasText: '"version": "1.0.0"' }).waitFor();

  await playground.type("agents.md", "internal", "pii.high");
  await playground.answer.getByText("There is no lock").waitFor();
  // Its reason is there, with the place.
  const reasons = playground.answer.locator(".no-lock li");
  await playground.has(reasons, [/^UNSATISFIED no server is eligible for audiences .* agents\.md:13:18$/, /^UNSATISFIED no server is eligible for reporting .* agents\.md:13:18$/]);
  await reasons.last().getByRole("button", { name: "agents.md:13:18" }).click();
  await eventually(async () => assert.equal(await playground.cursor("agents.md"), "13:18"));
  await playground.type("agents.md", "name:", "nmae:");
  await playground.has(reasons, [/^MISSPELT_KEY .*agents\.md:2:1$/]);
  await playground.answer.getByRole("button", { name: "Show the verdict" }).click();
  await playground.says("No decision");
});

visit("a lock that the answer widens is in the headline, and at both of its tabs", async ({ playground, page }) => {
  const narrow = LOCK.replace('"write:audiences"', '"write:nothing"');
  await playground.paste("agents.lock", narrow);
  await playground.says("Every requirement has a server; 1 widening against your lock");
  assert.equal(await page.locator(".answer-line.yes").count(), 0);
  await page.locator("button.input-name", { hasText: "agents.lock" }).locator(".badge", { hasText: "1 widening" }).waitFor();
  await playground.tabs.getByRole("tab", { name: "agents.lock" }).locator(".badge", { hasText: "1 widening" }).waitFor();

  await playground.paste("agents.lock", LOCK);
  await page.locator(".answer-line.yes").waitFor();
  await playground.has(playground.headline, [/Every requirement has a server hello-agent 1/]);
  assert.equal(await playground.tabs.locator(".badge").count(), 0);
});

visit("an unknown constraint is refused, and a warning is in the headline", async ({ playground, page }) => {
  await playground.paste("agents.md", MANIFEST.replace("constraints:", "constraints:\n  budget: 3"));
  await playground.says("No decision");
  await playground.problems.getByRole("listitem").filter({ hasText: "UNKNOWN_KEY" }).first().waitFor();
  await playground.paste("agents.md", MANIFEST);
  const servers = JSON.parse(INDEX);
  const list = Array.isArray(servers) ? servers : servers.servers;
  list.push({ ...list[0], id: list[0].id.replace("a", "\u0430"), categories: [] });
  await playground.paste("mcp.index.json", JSON.stringify(servers, null, 2));
  await playground.says("Every requirement has a server; 1 warning");
  await page.locator(".answer-line.caution").waitFor();
});

const TOOLS = `---
name: reader
version: 1.0.0
requires:
  capabilities:
    - { verb: read, resource: codebase }
---
`;

const index = (/** @type {string} */ description, /** @type {object} */ properties) => JSON.stringify([
  {
    id: "repo", version: "1", endpoint: "https://repo.example", categories: ["code"], scopes: [],
    data: { residency: ["eu-only"], maxSensitivity: "internal" }, trust: { signed: true, publisher: "R" },
    capabilities: { tools: { read_file: {
      description, inputSchema: { type: "object", properties },
      "x-summit-capabilities": [{ verb: "read", resource: "codebase" }],
    } } },
  },
]);
/** The module that compares definitions. */
const LARGER = /\/engine\/policy\/agent-engine_bg\.wasm$/;

const FORMER = index("Reads a file.", { path: { type: "string" } });
const CHANGED = index("Reads a file, and sends it.", { path: { type: "string" }, to: { type: "string" } });

/** @param {import("./playground.mjs").Playground} playground @returns the lock that the page would write */
async function written(playground) {
  await playground.open("agents.lock");
  const viewer = playground.page.locator(".viewer .cm-content");
  return eventually(async () => {
    const text = await viewer.evaluate((content) => content.cmTile.root.view.state.doc.toString());
    // The editor is there before its text.
    assert.notEqual(text, "");
    return text;
  });
}

visit("a changed definition is compared with the locked one where this page has seen both", async ({ playground, page, another }) => {
  await playground.paste("agents.md", TOOLS);
  await playground.paste("mcp.index.json", FORMER);
  await playground.says("Every requirement has a server or a tool");
  const lock = await written(playground);
  // Also where the index is another one before the module that compares definitions is loaded.
  let release = () => {};
  const held = new Promise((resolve) => (release = () => resolve(undefined)));
  const asked = page.waitForRequest(LARGER);
  await page.route(LARGER, async (route) => {
    await held;
    await route.continue();
  });
  await playground.paste("agents.lock", lock);
  await asked;
  await playground.paste("mcp.index.json", CHANGED);
  release();
  const differences = [
    "/description was \"Reads a file.\" and is \"Reads a file, and sends it.\"",
    "/inputSchema/properties/to is new: {\"type\":\"string\"}",
  ];
  // From the lock to the new one, and to the index.
  const details = page.getByRole("region", { name: "The pasted lock" }).locator(".definition li");
  await playground.has(details, [...differences, ...differences]);
  assert.equal(await page.getByText("Only the digests").count(), 0);

  // Another visit knows the digests only, until it has seen the index of the lock.
  const other = await another();
  await other.paste("agents.md", TOOLS);
  await other.paste("mcp.index.json", CHANGED);
  await other.paste("agents.lock", lock);
  await other.open("agents.lock");
  const region = other.page.getByRole("region", { name: "The pasted lock" });
  await region.getByText(/the definition of the tool had the digest/).first().waitFor();
  await region.getByText(/^Only the digests of these definitions are known/).waitFor();
  await other.paste("mcp.index.json", FORMER);
  await region.getByText("The pasted lock is the same.").waitFor();
  await other.paste("mcp.index.json", CHANGED);
  await other.has(region.locator(".definition li"), [...differences, ...differences]);
  assert.equal(await region.getByText("Only the digests").count(), 0);
});

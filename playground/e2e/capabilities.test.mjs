// Capability requirements, and their evaluation context.

import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";
import { visit } from "./visit.mjs";

/** @param {import("./playground.mjs").Playground} playground */
const rows = (playground) => playground.answer.locator(".scroller tbody tr:not(.spacer)");

const EXAMPLE = "Tools for a task";

visit("capabilities of manifest and task have cards, with tools, funnels and obligations", async ({ playground }) => {
  await playground.example(EXAMPLE);
  await playground.says("Not every requirement has a server or a tool");
  await playground.has(playground.cards.getByRole("heading", { level: 3 }), [/notify:slack$/, /search:internet$/, /read:codebase$/, /read:aws$/]);

  const notify = playground.card("notify:slack");
  await notify.getByText("team-notes 4.0.0 / post_message").waitFor();
  await notify.getByText("every call needs human approval").waitFor();
  assert.equal(await playground.card("read:aws").getByText("on demand", { exact: true }).count(), 1);

  const search = playground.card("search:internet");
  await search.getByText("lantern-search 2.0.1 / search_news").waitFor();
  await search.getByRole("button", { name: "How they were ranked: 3 eligible" }).click();
  await playground.has(search.locator(".list li"), [
    "lantern-search 2.0.1 / search_news selected",
    "lantern-search 2.0.1 / search_web lost: its name is later in order",
    "free-search 1.4.0 / search lost: its priority is lower",
  ]);
  await search.getByRole("button", { name: "health 3 left −1 held back" }).click();
  await search.getByText("1 tool held back").waitFor();
  await search.getByText("is on a server that is STARTING").waitFor();
});

visit("problems have places in the task, the tenants and health", async ({ playground }) => {
  await playground.example(EXAMPLE);
  for (const [name, from, to, code, at] of /** @type {const} */ ([
    ["task.yaml", "verb: search", "verb: serach", "UNKNOWN_VALUE", "task.yaml:3:11"],
    ["tenant.yaml", "token_budget: 400", "token_budget: many", "WRONG_TYPE", "tenant.yaml:5:19"],
    ["health.yaml", "PROBATION", "FINE", "UNKNOWN_VALUE", "health.yaml:3:17"],
  ])) {
    await playground.type(name, from, to);
    await playground.says("No decision");
    const problem = playground.problems.getByRole("listitem").filter({ hasText: code }).first();
    await problem.getByRole("button", { name: at }).click();
    await eventually(async () => assert.equal(await playground.cursor(name), at.slice(name.length + 1)));
    await playground.type(name, to, from);
    await playground.says("Not every requirement has a server or a tool");
  }
});

visit("what a task requires and the manifest forbids is a contradiction", async ({ playground }) => {
  await playground.example(EXAMPLE);
  const manifest = await playground.text("agents.md");
  await playground.paste("agents.md", manifest.replace("\n  data:\n", "\n  actions:\n    forbid: [search:internet]\n  data:\n"));
  await playground.says("No decision");
  const problem = playground.problems.getByRole("listitem").filter({ hasText: "FORBIDDEN_ACTION" });
  await problem.getByRole("button", { name: /^task\.yaml:/ }).first().waitFor();
  await problem.getByRole("button", { name: /^agents\.md:/ }).waitFor();
});

visit("the matrix has a column for a capability, and a row for each server or for each tool", async ({ playground, page }) => {
  await playground.example(EXAMPLE);
  await playground.open("Matrix");
  await playground.has(rows(playground).getByRole("rowheader"), [
    "cloud-tools 5.2.0",
    "lantern-search 2.0.1",
    "team-notes 4.0.0",
    // Eligible; then what the health of the server excludes.
    "free-search 1.4.0",
    "repo-reader 1.0.3",
    "swift-search 3.1.0",
  ]);
  const label = (/** @type {string} */ name) => playground.answer.getByRole("button", { name, exact: true });
  assert.equal(await label("lantern-search 2.0.1, search:internet: selected").count(), 1);
  assert.equal(await label("repo-reader 1.0.3, read:codebase: rejected: HEALTH_VETO").count(), 1);
  assert.equal(await label("team-notes 4.0.0, read:aws: rejected: MISSING_CAPABILITY").count(), 1);
  await page.getByRole("button", { name: "HEALTH_VETO", exact: true }).click();
  await playground.has(rows(playground).getByRole("rowheader"), ["repo-reader 1.0.3", "swift-search 3.1.0"]);

  await label("Tools").click();
  await playground.answer.getByText("9 tools").waitFor();
  assert.equal(await label("lantern-search 2.0.1 / search_web, search:internet: eligible").count(), 1);
  await page.getByLabel("Part of an id or a tool").fill("search_web");
  await playground.has(rows(playground).getByRole("rowheader"), ["lantern-search 2.0.1 / search_web", "swift-search 3.1.0 / search_web"]);
  await label("Servers").click();
  await playground.has(rows(playground).getByRole("rowheader"), []);
});

visit("a cell explains the server's best tool, and links to the others", async ({ playground }) => {
  await playground.example(EXAMPLE);
  await playground.open("Matrix");
  await playground.answer.getByRole("button", { name: /^repo-reader 1.0.3, read:codebase/ }).click();
  await playground.explanation.getByRole("heading", { name: "repo-reader 1.0.3 / read_file" }).waitFor();
  await playground.has(playground.explanation.locator(".checks tbody tr"), [
    /^✓capability , passed read:codebase task\.yaml:5:11 read:codebase 83:24$/,
    /^✓constraints , passed readonly/,
    /^✓residency/,
    /^✓sensitivity/,
    /^✓signature/,
    /^✓action/,
    /^✗health , failed HEALTHY or PROBATION UNHEALTHY health\.yaml:4:14/,
  ]);
  await playground.explanation.getByRole("button", { name: "write_file" }).click();
  await playground.explanation.getByRole("heading", { name: "repo-reader 1.0.3 / write_file" }).waitFor();
  await playground.explanation.getByText("advertises only write:codebase").waitFor();
});

visit("the health of a server is switched in its explanation, and undone", async ({ playground }) => {
  await playground.example(EXAMPLE);
  const before = await playground.text("health.yaml");
  await playground.card("read:codebase").locator(".nearest .server").first().click();
  await playground.explanation.getByRole("button", { name: "Suppose HEALTHY" }).click();
  await playground.explanation.getByText("read:codebase: selected").waitFor();
  await playground.says("Every requirement has a server or a tool");
  assert.equal(await playground.text("health.yaml"), before.replace("UNHEALTHY", "HEALTHY"));
  await playground.notice.getByRole("button", { name: "Undo" }).click();
  await playground.says("Not every requirement has a server or a tool");
  assert.equal(await playground.text("health.yaml"), before);
});

visit("without a snapshot, supposing an unhealthy server writes one", async ({ playground }) => {
  await playground.example(EXAMPLE);
  await playground.paste("health.yaml", "");
  await playground.says("Every requirement has a server or a tool");
  await playground.card("search:internet").locator(".selection .server").first().click();
  await playground.explanation.getByText("not considered: there is no snapshot").waitFor();
  await playground.explanation.getByRole("button", { name: "Suppose UNHEALTHY" }).click();
  await playground.explanation.getByText("search:internet: rejected").waitFor();
  const snapshot = await playground.text("health.yaml");
  assert.match(snapshot, /^swift-search: UNHEALTHY$/m);
  assert.equal(snapshot.match(/: HEALTHY$/gm)?.length, 5);
  await playground.card("search:internet").getByText("lantern-search 2.0.1 / search_news").waitFor();
});

visit("the tokens of selected tools are compared with the budget", async ({ playground }) => {
  await playground.example(EXAMPLE);
  await playground.type("health.yaml", "UNHEALTHY", "HEALTHY");
  await playground.says("Every requirement has a server or a tool");
  const tokens = playground.answer.locator(".tokens");
  await tokens.getByText(/^About \d+ tokens from the start, of 400/).waitFor();
  assert.match(await tokens.innerText(), /\d+ for tools, \d+ for stubs.*an estimate/s);
  assert.equal(await tokens.locator(".excess").count(), 0);
  await playground.type("tenant.yaml", "token_budget: 400", "token_budget: 40");
  await tokens.getByText(/more than the budget of 40/).waitFor();
  assert.equal(await tokens.locator(".excess").count(), 1);
});

visit("a lock of tools is compared, and names the capability", async ({ playground }) => {
  await playground.example(EXAMPLE);
  await playground.type("health.yaml", "UNHEALTHY", "HEALTHY");
  await playground.says("Every requirement has a server or a tool");
  await playground.open("agents.lock");
  await playground.answer.getByRole("button", { name: "Copy" }).click();
  const lock = await playground.page.evaluate(() => navigator.clipboard.readText());
  await playground.paste("agents.lock", lock.replaceAll("on_demand", "essential"));
  await playground.answer.getByText("LOAD_CHANGED").first().waitFor();
  await playground.answer.locator(".drifts").getByText("read:aws + readonly:").first().waitFor();
}, { browser: { permissions: ["clipboard-read", "clipboard-write"] } });

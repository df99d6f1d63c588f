import assert from "node:assert/strict";
import { PARTS } from "./embeds.mjs";
import { eventually } from "./eventually.mjs";
import { focused, go, tabThrough, tabTo } from "./keys.mjs";
import { PLAN, visitPlans } from "./plans.mjs";
import { Run } from "./run.mjs";
import { visitSessions } from "./sessions.mjs";
import { visitReviews } from "./reviews.mjs";
import { visit } from "./visit.mjs";

visit("Tab goes through everything in order, and out of the editors", async ({ page }) => {
  const names = [];
  for (let steps = 0; steps < 60; steps++) {
    names.push(await go(page, "Tab"));
    if (names.at(-1) === "source") break;
  }
  const important = [
    ...["Examples", "Share", "Menu", "Wrap long lines"],
    ...["agents.md", "mcp.index.json", "agents.lock, empty", "task.yaml, empty", "tenant.yaml, empty"],
    ...["health.yaml, empty", "policy.rego, empty", "mcp.index.json", "Verdict"],
    ...["agents.md:6:7", "acme-audiences 2.1.0", "beta-audiences 1.0.0", "chart-reports 3.4.1"],
    ...["gamma 1.0.0", "How the tie was broken: 2 eligible"],
    ...["agents.md:8:7", "chart-reports 3.4.1", "beta-audiences 1.0.0", "gamma 1.0.0", "source"],
  ];
  let at = -1;
  for (const name of important) {
    at = names.indexOf(name, at + 1);
    assert.notEqual(at, -1, `${name} is not in its place among ${names.join(", ")}`);
  }
});

visit("a requirement is made to pass without a mouse", async ({ playground, page }) => {
  await tabTo(page, "agents.md");
  await page.keyboard.press("Control+f");
  await page.keyboard.type("internal");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.keyboard.type("confidential");
  await playground.says("Not every requirement has a server");
  await tabTo(page, "Apply");
  await page.keyboard.press("Enter");
  await playground.says("Every requirement has a server");
  // The button is gone with its problem, and so is the next one.
  await eventually(async () => assert.equal((await focused(page)).name, "Undo"));
  await page.keyboard.press("Enter");
  await playground.says("Not every requirement has a server");
  await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.id), "answer-panel"));
  await tabTo(page, "Apply");
});

visit("arrows move through the tabs, and Alt with a number opens them from anywhere", async ({ playground, page }) => {
  const selected = playground.tabs.locator("[aria-selected=true]");
  await tabTo(page, "Verdict");
  for (const [key, name] of [
    ["ArrowRight", "Matrix"], ["ArrowRight", "What if"], ["End", "Explanation"], ["ArrowRight", "Verdict"],
    ["ArrowLeft", "Explanation"], ["Home", "Verdict"],
  ]) {
    assert.equal(await go(page, key), name);
    // The focus moves at once, the selection with the next frame.
    await eventually(async () => assert.equal(await selected.innerText(), name));
  }
  await page.keyboard.press("Shift+Tab");
  for (const [key, name] of [["Alt+5", "agents.lock"], ["Alt+4", "Policy"], ["Alt+2", "Matrix"], ["Alt+1", "Verdict"]]) {
    await page.keyboard.press(key);
    await eventually(async () => assert.equal(await selected.innerText(), name));
    assert.equal((await focused(page)).name, name);
  }
});

visit("arrows move through the matrix; Enter explains a cell beside it, Escape closes the explanation", async ({ playground, page }) => {
  await playground.open("Matrix");
  await tabTo(page, /^acme-audiences 2.1.0, audiences: selected$/);
  assert.match(await go(page, "ArrowRight"), /^acme-audiences 2.1.0, reporting: /);
  assert.match(await go(page, "ArrowDown"), /^chart-reports 3.4.1, reporting: /);
  assert.match(await go(page, "End"), /^gamma 1.0.0, reporting: /);
  assert.match(await go(page, "ArrowLeft"), /^gamma 1.0.0, audiences: /);
  await page.keyboard.press("Enter");
  await playground.explanation.getByRole("heading", { name: "gamma 1.0.0" }).waitFor();
  // The explanation covers nothing, so that the keyboard stays in the cell.
  assert.match((await focused(page)).name, /^gamma 1.0.0, audiences: /);
  assert.equal(await go(page, "Tab"), "Close the explanation");
  await page.keyboard.press("Escape");
  await playground.explanation.waitFor({ state: "detached" });
  await eventually(async () => assert.match((await focused(page)).name, /^gamma 1.0.0, audiences: /));
  assert.match(await go(page, "Home"), /^acme-audiences 2.1.0, audiences: /);
});

visit("? opens the help, Escape closes it, and both leave the keyboard where it was", async ({ playground, page }) => {
  await tabTo(page, "Share");
  await page.keyboard.press("?");
  await playground.dialog.getByRole("heading", { name: "Help" }).waitFor();
  assert.equal((await focused(page)).name, "Close");
  await page.keyboard.press("Escape");
  await playground.dialog.waitFor({ state: "detached" });
  assert.equal((await focused(page)).name, "Share");

  await tabTo(page, "agents.md");
  await page.keyboard.type("?");
  assert.match(await playground.text("agents.md"), /^\?/);
  assert.equal(await playground.dialog.count(), 0);
});

visit("F8 goes to the next problem", async ({ playground, page }) => {
  await playground.type("agents.md", "internal", "top-secret");
  await playground.says("No decision");
  await page.locator(".input.manifest .cm-lintRange-error").waitFor();
  await page.keyboard.press("F8");
  await eventually(async () => assert.equal(await playground.cursor("agents.md"), "13:18"));
});

visit("the parts of the page are made wider and higher, by the keyboard and by dragging", async ({ playground, page }) => {
  const inputs = playground.root.locator(".inputs");
  const width = async () => (await inputs.boundingBox())?.width ?? 0;
  const bar = page.getByRole("separator", { name: "Width of the inputs" });
  const before = await width();
  await bar.focus();
  for (let times = 0; times < 5; times++) await page.keyboard.press("ArrowRight");
  await eventually(async () => assert.ok((await width()) > before + 50));
  assert.equal(await bar.getAttribute("aria-valuenow"), "55");

  const wide = await width();
  await page.mouse.move(wide, 400);
  await page.mouse.down();
  await page.mouse.move(wide - 200, 420, { steps: 4 });
  await page.mouse.up();
  await page.mouse.move(900, 420);
  await eventually(async () => assert.ok(Math.abs((await width()) - (wide - 200)) < 5));

  const upper = playground.root.locator(".input.manifest");
  const height = async () => (await upper.boundingBox())?.height ?? 0;
  const low = await height();
  await page.getByRole("separator", { name: "Height of the upper input" }).press("ArrowDown");
  await eventually(async () => assert.ok((await height()) > low + 5));
});

visitPlans("plans", "a plan is made to run without a mouse", async (plans, { page }) => {
  await plans.paste("plan.json", PLAN.replace('"tool_id": "list"', '"tool_id": "lists"'));
  await plans.says("The plan may not run");
  await plans.root.locator(".apply").first().focus();
  await page.keyboard.press("Enter");
  await plans.says("The plan may run");
  await eventually(async () => assert.equal((await focused(page)).name, "Undo"));
  await page.keyboard.press("Enter");
  await plans.says("The plan may not run");
  await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.id), "decided"));
});

visit("the headline alone is announced, not the head of the page", async ({ page }) => {
  assert.equal(await page.locator("header[role=status]").count(), 0);
  const announced = await page.locator(".headline [role=status], [role=status].answer-line").allInnerTexts();
  assert.deepEqual(announced.map((text) => text.replace(/\s+/g, " ").trim()), ["✓hello-agent may use 2 of 4 servers: acme-audiences, chart-reports"]);
});

visit("Tab reaches everything in each tab of servers, in the tour and in the menu", async ({ playground, page, another }) => {
  for (const name of /** @type {const} */ (["Matrix", "What if", "agents.lock", "Explanation"])) {
    await playground.open(name);
    assert.ok((await tabThrough(page)) > 20, name);
  }
  await playground.example("A policy in Rego");
  await playground.open("Policy");
  await playground.answer.getByText("deny_reasons").first().waitFor();
  await tabThrough(page);
  const { page: first } = await another({ example: "" });
  await first.getByRole("button", { name: "Three edits" }).click();
  await first.getByRole("button", { name: "Leave" }).waitFor();
  await tabThrough(first);
  await first.getByRole("button", { name: "Menu" }).focus();
  await first.keyboard.press("Enter");
  const items = first.locator("#servers .menu .items button");
  await items.first().waitFor();
  const names = await items.evaluateAll((all) => all.filter((it) => it.checkVisibility()).map((it) => it.textContent));
  assert.ok(names.length > 8, names.join());
  for (const name of names) assert.match(await go(first, "Tab"), new RegExp(`^${name.replace(/\W.*/, "")}`));
});

visitPlans("plans", "Tab reaches everything of plans, runs, calls and groundings", async (plans, { page }) => {
  await tabThrough(page);
  await plans.example("Everything at once");
  await plans.says("The plan may not run");
  await tabThrough(page);
  await plans.example("Over HTTP, without a lock");
  await new Run(plans).begin();
  await tabThrough(page);
  await plans.area("One call");
  await plans.example("A tool that is misspelt");
  await plans.says("The call may not be made");
  await tabThrough(page);
  await plans.area("Grounding");
  await plans.example("Quotation marks of another kind");
  await plans.claims.locator("del").first().waitFor();
  await tabThrough(page);
});

visitSessions("session", "Tab reaches everything of sessions and logs", async (sessions, { page }) => {
  await sessions.click("Make this call");
  await sessions.waits.first().waitFor();
  await tabThrough(page);
  await sessions.area("Audit");
  await sessions.example("Another policy");
  await sessions.says("2 of 6 calls decided otherwise");
  await tabThrough(page);
});

visitReviews("Tab reaches everything of a review", async (reviews, { page }) => {
  await reviews.says("the scope write:audiences is newly granted");
  await tabThrough(page);
});

visit("Tab reaches everything of an embedded part", async ({ page, address }) => {
  for (const [part, answer] of Object.entries(PARTS)) {
    await page.goto(`${address}?embed=${part}`);
    await page.locator(answer).first().waitFor();
    assert.ok((await tabThrough(page)) > 1, part);
  }
}, { wait: false, example: "" });

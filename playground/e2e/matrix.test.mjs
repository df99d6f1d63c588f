import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";
import { broken } from "./fits.mjs";
import { INDEX } from "./hello.mjs";
import { visit } from "./visit.mjs";

/** @param {import("./playground.mjs").Playground} playground */
const rows = (playground) => playground.answer.locator(".scroller tbody tr:not(.spacer)");

visit("the matrix has a cell for each server and requirement, with its verdict in words", async ({ playground }) => {
  await playground.open("Matrix");
  await playground.has(rows(playground), ["acme-audiences 2.1.0", "chart-reports 3.4.1", "beta-audiences 1.0.0", "gamma 1.0.0"]);
  const signs = rows(playground).getByRole("button").evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell, "::before").content));
  assert.deepEqual(await signs, ["✓", "C+1", "C+1", "✓", "○", "C+1", "S+2", "C+3"].map((sign) => JSON.stringify(sign)));
  for (const label of [
    "acme-audiences 2.1.0, audiences: selected",
    "beta-audiences 1.0.0, audiences: eligible",
    "gamma 1.0.0, audiences: rejected: MISSING_SCOPE, RESIDENCY_MISMATCH, SENSITIVITY_EXCEEDED",
  ]) {
    assert.equal(await playground.answer.getByRole("button", { name: label, exact: true }).count(), 1, label);
  }
});

visit("a cell opens the explanation, with its places marked in both inputs", async ({ playground, page }) => {
  await playground.open("Matrix");
  await playground.answer.getByRole("button", { name: /^gamma 1.0.0, audiences/ }).click();
  await playground.explanation.getByRole("heading", { name: "gamma 1.0.0" }).waitFor();
  await playground.has(playground.explanation.locator(".checks tbody tr"), [
    /^✓category , passed/,
    /^✗scopes , failed .*write:audiences.* \d+:\d+ .* \d+:\d+$/,
    /^✗residency , failed us-only 14:16 eu-only \d+:\d+$/,
    /^✗sensitivity , failed internal 13:18 public \d+:\d+$/,
    /^✓signature , passed/,
  ]);
  await eventually(async () => {
    const marked = await playground.texts(page.locator(".input.manifest .cm-place"));
    for (const text of ["us-only", "internal"]) assert.ok(marked.includes(text), `${text} in ${marked}`);
  });
  await eventually(async () => {
    const marked = await playground.texts(page.locator(".input.lower .cm-place"));
    for (const text of ['"eu-only"', '"public"']) assert.ok(marked.includes(text), `${text} in ${marked}`);
  });

  await playground.explanation.getByRole("button", { name: "agents.md:14:16" }).click();
  await eventually(async () => assert.equal(await playground.cursor("agents.md"), "14:16"));

  // What the entry of a server states is no fix of it.
  assert.equal(await playground.explanation.locator(".apply").count(), 0);

  await playground.explanation.getByRole("button", { name: "Close the explanation" }).click();
  await playground.explanation.waitFor({ state: "detached" });
  await eventually(async () => assert.equal(await page.locator(".cm-place").count(), 0));
});

visit("a fix in the explanation makes the server eligible, and is undone", async ({ playground }) => {
  await playground.type("agents.md", "internal", "confidential");
  await playground.open("Matrix");
  const changed = await playground.text("agents.md");
  await playground.answer.getByRole("button", { name: /^chart-reports 3.4.1, reporting/ }).click();
  await playground.explanation.getByText("reporting: rejected").waitFor();
  await playground.explanation.locator(".apply").first().click();
  await playground.explanation.getByText("reporting: selected").waitFor();
  assert.notEqual(await playground.text("agents.md"), changed);
  await playground.notice.getByRole("button", { name: "Undo" }).click();
  await playground.explanation.getByText("reporting: rejected").waitFor();
  assert.equal(await playground.text("agents.md"), changed);
  assert.equal(await playground.text("mcp.index.json"), INDEX);
});

visit("the matrix is filtered by code, id and requirement, and zoomed", async ({ playground, page }) => {
  await playground.open("Matrix");
  const names = (/** @type {string[]} */ ...expected) => playground.has(rows(playground).getByRole("rowheader"), expected);
  const chip = (/** @type {string} */ name) => page.getByRole("button", { name, exact: true });

  await chip("RESIDENCY_MISMATCH").click();
  await names("gamma 1.0.0");
  await chip("selected").click();
  await names("acme-audiences 2.1.0", "chart-reports 3.4.1", "gamma 1.0.0");
  await page.getByLabel("Of which requirement").selectOption("audiences");
  await names("acme-audiences 2.1.0", "gamma 1.0.0");
  await page.getByLabel("Part of an id").fill("amm");
  await names("gamma 1.0.0");
  await page.getByLabel("Part of an id").fill("nobody");
  await page.getByText("No server fits the filter.").waitFor();
  await page.getByLabel("Part of an id").fill("");
  await chip("RESIDENCY_MISMATCH").click();
  await chip("selected").click();
  await page.getByLabel("Of which requirement").selectOption("any requirement");
  await names("acme-audiences 2.1.0", "chart-reports 3.4.1", "beta-audiences 1.0.0", "gamma 1.0.0");

  const height = async () => (await rows(playground).first().boundingBox())?.height ?? 0;
  assert.equal(await height(), 32);
  await page.getByRole("button", { name: "Zoom out" }).click();
  await eventually(async () => assert.equal(await height(), 22));
  await page.getByRole("button", { name: "Zoom out" }).click();
  await eventually(async () => assert.equal(await height(), 14));
  assert.ok(await page.getByRole("button", { name: "Zoom out" }).isDisabled());
});

visit("the rows nearest to a yes are first, of one requirement or of the best one", async ({ playground, page }) => {
  await playground.open("Matrix");
  const names = (/** @type {string[]} */ ...expected) => playground.has(rows(playground).getByRole("rowheader"), expected);
  await names("acme-audiences 2.1.0", "chart-reports 3.4.1", "beta-audiences 1.0.0", "gamma 1.0.0");
  await page.getByRole("button", { name: "By name" }).click();
  await names("acme-audiences 2.1.0", "beta-audiences 1.0.0", "chart-reports 3.4.1", "gamma 1.0.0");
  await page.getByRole("button", { name: "Nearest first" }).click();
  await page.getByLabel("Of which requirement").selectOption("audiences");
  await names("acme-audiences 2.1.0", "beta-audiences 1.0.0", "gamma 1.0.0", "chart-reports 3.4.1");
  await page.getByLabel("Of which requirement").selectOption("reporting");
  await names("chart-reports 3.4.1", "acme-audiences 2.1.0", "beta-audiences 1.0.0", "gamma 1.0.0");
});

for (const [width, height] of [[1440, 900], [1024, 768]]) {
  visit(`at ${width} px the explanation is beside the rows, and cells replace it`, async ({ playground, page }) => {
    await playground.open("Matrix");
    const cell = (/** @type {string} */ name) => playground.answer.getByRole("button", { name: new RegExp(`^${name}`) });
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    const box = async (/** @type {import("playwright-core").Locator} */ of) => (await of.boundingBox()) ?? assert.fail("it is not visible");

    const beta = cell("beta-audiences 1.0.0, audiences");
    const before = await box(beta);
    await beta.click();
    await playground.explanation.getByRole("heading", { name: "beta-audiences 1.0.0" }).waitFor();
    // The row stays where it was clicked, and nothing covers its cells.
    assert.equal((await box(beta)).y, before.y);
    const story = await box(playground.explanation);
    for (const each of await rows(playground).all()) {
      const { x, y, width: wide, height: high } = await box(each);
      assert.ok(y + high <= story.y + story.height && x < story.x, `${x}, ${y}, ${wide}`);
    }
    assert.ok((await box(beta)).x + (await box(beta)).width <= story.x);
    assert.equal(await beta.getAttribute("aria-current"), "true");
    assert.match((await focused()) ?? "", /^beta-audiences 1.0.0, audiences/);

    // Arrows and Enter lead to another story, from the cell that was clicked.
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await playground.explanation.getByRole("heading", { name: "gamma 1.0.0" }).waitFor();
    assert.equal(await beta.getAttribute("aria-current"), null);
    await cell("chart-reports 3.4.1, reporting").click();
    await playground.explanation.getByRole("heading", { name: "chart-reports 3.4.1" }).waitFor();

    await page.keyboard.press("Escape");
    await playground.explanation.waitFor({ state: "detached" });
    assert.match((await focused()) ?? "", /^chart-reports 3.4.1, reporting/);
    await cell("gamma 1.0.0, audiences").click();
    await playground.explanation.getByRole("button", { name: "Close the explanation" }).click();
    await playground.explanation.waitFor({ state: "detached" });
    await eventually(async () => assert.match((await focused()) ?? "", /^gamma 1.0.0, audiences/));
  }, { browser: { viewport: { width, height } } });
}

for (const width of [1440, 1024, 390, 320]) {
  visit(`at ${width} px no explanation, card or cell breaks a word`, async ({ playground, page }) => {
    await playground.example("Files, repositories");
    await playground.says("desk-assistant may use");
    assert.deepEqual(await broken(page, ".card"), []);
    await playground.example("Tools for a task");
    await playground.says("Not every requirement has a server or a tool");
    await playground.notice.getByRole("button", { name: "Close" }).click();
    assert.deepEqual(await broken(page, ".card"), []);
    await playground.open("Matrix");
    assert.deepEqual(await broken(page, ".matrix"), []);
    for (const name of [/^repo-reader .*read:codebase/, /, search:internet: rejected/]) {
      await playground.answer.getByRole("button", { name }).first().click();
      await playground.explanation.locator(".checks").waitFor();
      assert.deepEqual(await broken(page, ".explanation"), [], String(name));
      if (width < 1000) await playground.explanation.getByRole("button", { name: "Close the explanation" }).click();
    }
  }, { browser: { viewport: { width, height: 860 } } });
}

visit("beside each other, the matrix gets what its cells need, and the story the rest", async ({ playground, page }) => {
  const widths = async () => {
    const [rows, story] = await Promise.all([page.locator(".scroller"), playground.explanation].map((it) => it.evaluate((part) => {
      return { own: part.clientWidth, content: part.scrollWidth, table: part.querySelector("table, [role=grid]")?.getBoundingClientRect().width ?? 0 };
    })));
    return { rows, story };
  };
  await playground.open("Matrix");
  await playground.answer.getByRole("button", { name: /^gamma 1.0.0, audiences/ }).click();
  await playground.explanation.locator(".checks").waitFor();
  const { rows, story } = await widths();
  // Nothing of two requirements is cut off, and nothing is left empty.
  assert.ok(rows.content <= rows.own + 1, JSON.stringify(rows));
  assert.ok(rows.own - rows.table < 40, JSON.stringify(rows));
  assert.ok(story.own > 300, JSON.stringify(story));
}, { browser: { viewport: { width: 1440, height: 900 } } });

visit("an explanation stays open in another tab, and leaves the keyboard there", async ({ playground, page }) => {
  await playground.open("Matrix");
  await playground.answer.getByRole("button", { name: /^gamma 1.0.0, audiences/ }).click();
  await playground.explanation.locator(".checks").waitFor();
  await playground.tabs.getByRole("tab", { name: "Matrix" }).press("ArrowLeft");
  await playground.explanation.getByRole("heading", { name: "gamma 1.0.0" }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.id), "tab-verdict");
  await playground.explanation.getByRole("button", { name: "Close the explanation" }).click();
  await playground.explanation.waitFor({ state: "detached" });
  await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement?.id), "answer-panel"));
});

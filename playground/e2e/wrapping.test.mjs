import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";
import { INDEX } from "./hello.mjs";
import { visit } from "./visit.mjs";

/** @import { Page } from "playwright-core" */

/** @param {Page} page @param {string} input @returns whether lines are broken, by what the editor does */
const wraps = (page, input) =>
  page.locator(`.input .cm-content[aria-label="${input}"]`).evaluate((content) => content.classList.contains("cm-lineWrapping"));

/** @param {Page} page */
const wrapping = (page) => page.locator("#servers").getByRole("button", { name: "Wrap long lines" });

visit("long lines are broken in all editors, also a whole index in a line, and the choice is kept", async ({ playground, page }) => {
  assert.equal(await wrapping(page).getAttribute("aria-pressed"), "false");
  assert.equal(await wraps(page, "mcp.index.json"), false);
  await wrapping(page).click();
  assert.equal(await wrapping(page).getAttribute("aria-pressed"), "true");
  for (const input of ["agents.md", "mcp.index.json", "policy.rego"]) assert.equal(await wraps(page, input), true, input);
  await playground.paste("mcp.index.json", JSON.stringify(JSON.parse(INDEX)));
  await playground.verdict();
  const fits = () => page.locator(".input.lower .cm-scroller:visible").evaluate((it) => it.scrollWidth <= it.clientWidth);
  await eventually(async () => assert.ok(await fits(), "the line is not broken"));
  // An editor that is made later follows too.
  await playground.open("agents.lock");
  assert.equal(await page.locator(".viewer .cm-lineWrapping").count(), 1);

  await page.reload();
  await playground.verdict();
  assert.equal(await wraps(page, "mcp.index.json"), true);
  assert.ok(await fits());
  await wrapping(page).click();
  assert.equal(await wraps(page, "mcp.index.json"), false);
  await page.reload();
  await playground.verdict();
  assert.equal(await wraps(page, "mcp.index.json"), false);
});

visit("at the width of a phone long lines are broken from the start, until the user decides", async ({ playground, page }) => {
  await playground.verdict();
  assert.equal(await wraps(page, "mcp.index.json"), true);
  await playground.press("Wrap long lines");
  await eventually(async () => assert.equal(await wraps(page, "mcp.index.json"), false));
}, { browser: { viewport: { width: 390, height: 844 } } });

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
}, { browser: { viewport: { width: 1600, height: 900 } } });

visit("an editor with less than 80 columns breaks long lines from the start", async ({ page }) => {
  const editor = page.locator('.input .cm-content[aria-label="agents.md"]');
  assert.equal(await wraps(page, "agents.md"), true);
  const columns = await editor.evaluate((content) => {
    const { view } = content.cmTile.root;
    return content.clientWidth / view.defaultCharacterWidth;
  });
  assert.ok(columns < 80, `${columns}`);
});

visit("the upper editor is as high as its content, up to 60 % of the inputs", async ({ playground, page }) => {
  const heights = () => page.evaluate(() => {
    const height = (/** @type {string} */ part) => document.querySelector(`#servers .inputs ${part}`)?.getBoundingClientRect().height ?? 0;
    return [height(".input.manifest"), height(".input.lower"), height("")];
  });
  await playground.paste("agents.md", "---\nname: a\n---\n");
  const [few, below] = await heights();
  assert.ok(few < 160 && below > 400, `${few} ${below}`);
  await playground.paste("agents.md", `---\nname: a\n---\n${"line\n".repeat(200)}`);
  await eventually(async () => {
    const [many, rest, all] = await heights();
    assert.ok(Math.abs(many / all - 0.6) < 0.01 && rest > 0, `${many} ${rest} ${all}`);
  });
  await playground.input("agents.md").evaluate((content) => {
    content.cmTile.root.view.scrollDOM.scrollTop = 1e6;
  });
  await eventually(async () => assert.ok(await page.locator("#servers .input.manifest .cm-scroller").evaluate((it) => it.scrollTop > 500)));
});

visit("at the width of a phone long lines are broken from the start, until the user decides", async ({ playground, page }) => {
  await playground.verdict();
  assert.equal(await wraps(page, "mcp.index.json"), true);
  await playground.press("Wrap long lines");
  await eventually(async () => assert.equal(await wraps(page, "mcp.index.json"), false));
}, { browser: { viewport: { width: 390, height: 844 } } });

visit("two documents below each other keep room for the first, also below a long manifest", async ({ playground }) => {
  await playground.example("A policy in Rego");
  await playground.show("policy.rego");
  await eventually(async () => {
    const height = await playground.input("policy.rego").evaluate((it) => it.closest(".cm-scroller")?.clientHeight ?? 0);
    assert.ok(height > 150, `${height}`);
  });
}, { browser: { viewport: { width: 1024, height: 900 } } });

// Parts of the page inside of other pages.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import axe from "axe-core";
import { violations } from "./axe.mjs";
import { PARTS } from "./embeds.mjs";
import { fits } from "./fits.mjs";
import { LOOKS } from "./states.mjs";
import { visit } from "./visit.mjs";

/** A script of the book. */
const OF_BOOK = readFileSync(new URL("../../docs/playground.js", import.meta.url), "utf8");

/** The lines of the gallery with an example's folder, and those with the code that it leads to. */
const GALLERY = readFileSync(new URL("../src/gallery.rs", import.meta.url), "utf8");

/** Texts that only the whole page shows. */
const WHOLE = ["Examples", "Share", "agents.md", "mcp.index.json"];

visit("an embedded part shows an answer alone, keeps nothing, and leads to the whole page", async ({ playground, page, address }) => {
  await playground.type("agents.md", "name:", "# kept\nname:");
  await playground.verdict();
  const shown = (/** @type {string} */ text) => page.getByText(text, { exact: true }).filter({ visible: true }).count();
  const tabs = page.getByRole("tab").filter({ visible: true });
  for (const text of WHOLE) assert.notEqual(await shown(text), 0, text);
  assert.notEqual(await tabs.count(), 0);
  await page.goto(`${address}?embed=verdict&example=desk-assistant`);
  await playground.says("desk-assistant may use 4 of 5 servers");
  for (const text of WHOLE) assert.equal(await shown(text), 0, text);
  assert.equal(await tabs.count(), 0);
  assert.equal(await page.getByRole("textbox").filter({ visible: true }).count(), 0);
  // An explanation opens, and its fixes are not offered.
  await playground.card("mail").getByRole("button", { name: /mail-us/ }).first().click();
  await page.getByRole("complementary", { name: "Explanation" }).waitFor();
  assert.equal(await page.locator(".apply").filter({ visible: true }).count(), 0);
  const whole = page.getByRole("link", { name: "in the playground" });
  assert.equal(await whole.getAttribute("href"), `${address}?example=desk-assistant`);
  // The visitor's own inputs were neither shown nor changed.
  await page.goto(address);
  await playground.verdict();
  assert.match(await playground.text("agents.md"), /# kept/);
});

visit("an embedded part is a funnel, a matrix or a session", async ({ playground, page, address }) => {
  await page.goto(`${address}?embed=funnel&example=desk-assistant`);
  await page.locator(".funnel").first().waitFor();
  assert.equal(await page.locator(".answer-line, .selection").filter({ visible: true }).count(), 0);
  await page.goto(`${address}?embed=matrix&example=desk-assistant`);
  await page.getByRole("grid").waitFor();
  assert.equal(await page.getByRole("tab").filter({ visible: true }).count(), 0);
  await page.goto(`${address}?embed=session`);
  await page.getByRole("heading", { name: "The agent sees 3 tools" }).waitFor();
  // What is left shows a definition, and makes nothing happen.
  const buttons = page.locator("#session button").filter({ visible: true });
  assert.deepEqual(await buttons.evaluateAll((all) => all.filter((it) => it.className !== "tool-name").map((it) => it.textContent)), []);
  await page.goto(`${address}?embed=everything`);
  await playground.has(page.getByRole("alert"), ["`embed=everything` is no part of the playground: the parts are verdict, funnel, matrix, session."]);
}, { wait: false });

for (const look of LOOKS) {
  visit(`${look.name}: every part fits, and axe finds no serious violation`, async ({ page, address }) => {
    for (const [part, answer] of Object.entries(PARTS)) {
      await page.goto(`${address}?embed=${part}`);
      await page.locator(answer).first().waitFor();
      await fits(page, part);
      await page.evaluate(axe.source);
      assert.deepEqual(await violations(page, look.rules), [], part);
    }
  }, { wait: false, example: "", browser: look.browser });
}

visit("an address names an open view", async ({ playground, page, address }) => {
  await page.goto(`${address}?example=desk-assistant&requirement=2&server=mail-us&version=5.0.2`);
  const story = page.getByRole("complementary", { name: "Explanation" });
  await story.getByText("mail-us").first().waitFor();
  await page.goto(`${address}?example=desk-assistant&tab=lock`);
  await page.getByRole("tab", { name: "agents.lock", selected: true }).waitFor();
  await page.getByText('"mail-eu"').first().waitFor();
}, { wait: false });

visit("a page of the book shows the example of its code, where the playground is beside it", async ({ page, address }) => {
  const named = [...OF_BOOK.matchAll(/^  ([A-Z_]+): "([a-z-]+)",$/gm)];
  const inGallery = GALLERY.matchAll(/example!\(\s*"([a-z-]+)",[^)]*?"([A-Z_]+)"\s*[,)]/g);
  const expected = [...inGallery].map(([, folder, code]) => [code, folder]);
  assert.deepEqual(named.map(([, code, folder]) => [code, folder]), expected.sort());

  const book = new URL("..", address);
  const body = (/** @type {string} */ root) => `<!doctype html><main><h1>A code</h1></main><script src="${root}playground.js"></script>`;
  const answer = (/** @type {string} */ path, /** @type {string} */ content) => page.route(new URL(path, book).href, (route) => {
    const type = path.endsWith(".js") ? "text/javascript" : "text/html";
    return route.fulfill({ contentType: type, body: content });
  });
  await answer("playground.js", OF_BOOK.replace('"playground/"', JSON.stringify(new URL(address).pathname)));
  await answer("codes/RESIDENCY_MISMATCH.html", body("../"));
  for (const name of ["codes/TOO_DEEP.html", "codes/constructor.html"]) await answer(name, body("../"));
  for (const name of ["tutorial", "tutorial-adopt", "tutorial-serve"]) await answer(`${name}.html`, body(""));
  await page.goto(new URL("codes/RESIDENCY_MISMATCH.html", book).href);
  const frame = page.frameLocator("iframe[title='The answer of the playground']");
  await frame.getByText("payroll-helper may use").waitFor();
  for (const [name, shown] of [["tutorial", "hello-agent may use"], ["tutorial-adopt", "Nearest first"], ["tutorial-serve", "The agent sees 3 tools"]]) {
    await page.goto(new URL(`${name}.html`, book).href);
    await frame.getByText(shown).first().waitFor();
  }
  for (const name of ["TOO_DEEP", "constructor"]) {
    await page.goto(new URL(`codes/${name}.html`, book).href, { waitUntil: "networkidle" });
    assert.equal(await page.locator("iframe").count(), 0, name);
  }
}, { wait: false });

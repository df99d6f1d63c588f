import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { eventually } from "./eventually.mjs";
import { INDEX, LOCK, MANIFEST } from "./hello.mjs";
import { firstPaint } from "./speed.mjs";
import { visit } from "./visit.mjs";

visit("the first visit shows servers that people know, and why one is refused", async ({ playground, page }) => {
  await playground.says("Every requirement has a server");
  await playground.has(page.locator(".answer-line"), ["✓desk-assistant may use 4 of 5 servers: calendar, filesystem, github, mail-eu"]);
  await playground.has(playground.cards.locator("h3"), [/files$/, /repositories$/, /mail$/, /calendar$/]);
  const lost = await playground.texts(playground.card("mail").locator(".funnel .lost"));
  assert.ok(lost.some((text) => /^mail-us.*us-only/.test(text)), lost.join("; "));
}, { example: "" });

visit("three edits show what the page does, made by a button or by hand", async ({ playground, page }) => {
  const steps = playground.root.locator(".introduction");
  const press = (/** @type {string} */ name) => steps.getByRole("button", { name, exact: true }).click();
  await press("Three edits");
  await playground.has(steps.getByRole("status"), [/^1 of 3\. /]);
  await press("Do it");
  await playground.says("desk-assistant may use 4 of 5 servers: calendar, filesystem, github, mail-us");
  assert.match(await playground.text("agents.md"), /residency: us-only/);
  await press("Next");
  await playground.type("agents.md", "[read:mail]", "[read:mail, send:mail]");
  await playground.says("Not every requirement has a server");
  await press("Next");
  await press("Do it");
  await playground.says("Every requirement has a server");
  await playground.has(steps.getByRole("status"), [/^3 of 3\. .*agents\.lock/]);
  await press("Next");
  await steps.getByRole("button", { name: "Paste your own configuration" }).waitFor();
  // The edits are the user's now.
  await page.reload();
  await playground.says("mail-us");
}, { example: "" });

visit("an address names the example of the first visit; a wrong name is that of none", async ({ playground, another }) => {
  assert.match(await playground.text("agents.md"), /^name: patient-intake$/m);
  await playground.says("Not every requirement has a server");
  await playground.press("Reset");
  await playground.noticeIs("Reset to the first example");
  assert.match(await playground.text("agents.md"), /^name: patient-intake$/m);
  const other = await another({ example: "../hello-agent" });
  assert.match(await other.text("agents.md"), /^name: desk-assistant$/m);
}, { example: "patient-intake" });

visit("below a short verdict is the lock, where it makes nothing scroll", async ({ playground, page }) => {
  const below = page.getByRole("region", { name: "agents.lock, as it would be written" });
  await below.filter({ hasText: '"lockVersion": 1' }).waitFor();
  assert.ok(await page.locator("#answer-panel").evaluate((it) => it.scrollHeight <= it.clientHeight));
  await page.setViewportSize({ width: 1280, height: 420 });
  await below.waitFor({ state: "hidden" });
  await page.setViewportSize({ width: 1280, height: 860 });
  await below.waitFor();
  // A verdict that is longer has no room for it.
  await playground.example("Two requirements, both with a server");
  await playground.example("Files, repositories, mail and a calendar");
  await playground.says("desk-assistant may use");
  assert.equal(await below.isVisible(), false);
}, { example: "translator", browser: { viewport: { width: 1280, height: 860 } } });

visit("hello-agent has both its servers", async ({ playground, page }) => {
  assert.equal(await playground.text("agents.md"), MANIFEST);
  assert.equal(await playground.text("mcp.index.json"), INDEX);
  await playground.show("agents.lock");
  assert.equal(await playground.text("agents.lock"), "");
  await playground.says("Every requirement has a server");
  assert.equal(await page.locator(".facts").innerText(), "hello-agent 1.0.0 · 2 requirements · 4 servers in the index");

  const [audiences, reporting] = [playground.card("audiences"), playground.card("reporting")];
  await playground.has(audiences.locator(".selection > p:first-child"), ["acme-audiences 2.1.0https://mcp.acme.example/audiences"]);
  await playground.has(audiences.locator(".over"), [/^over beta-audiences 1.0.0: /]);
  await playground.has(reporting.locator(".selection > p:first-child"), ["chart-reports 3.4.1https://charts.example/mcp"]);
  await playground.has(audiences.locator(".funnel .left"), ["4", "3 left", "2 left", "2 left", "1"]);
  await playground.has(reporting.locator(".funnel .left"), ["4", "1 left", "1 left", "1"]);
}, { browser: { serviceWorkers: "allow" } });

visit("the footer says which engine decided", async ({ page }, t) => {
  const foot = page.getByRole("contentinfo");
  assert.match(await foot.innerText(), /engine \d+\.\d+\.\d+/);
  const digest = await foot.locator("code").innerText();
  assert.match(digest, /^[0-9a-f]{64}$/);
  if (process.env.COMPONENT) {
    assert.equal(digest, createHash("sha256").update(await readFile(process.env.COMPONENT)).digest("hex"));
  } else {
    t.diagnostic("COMPONENT does not say where the component is: only the form of its SHA-256 is looked at");
  }
});

visit("colours come after the first answer, and what an editor underlines too", async ({ playground, page, address }) => {
  const asked = /** @type {string[]} */ ([]);
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  let release = () => {};
  const held = new Promise((resolve) => (release = () => resolve(undefined)));
  await page.route("**/engine/agent-engine_bg.wasm", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto("about:blank");
  await page.goto(address);
  const editor = playground.input("agents.md");
  await editor.getByText("name: hello-agent").waitFor();
  assert.equal(await editor.locator(".cm-line span").count(), 0);
  assert.ok(!asked.some((path) => path.endsWith("/editor/features.js")), asked.join());
  release();
  await playground.says("Every requirement has a server");
  await editor.locator(".cm-line span").first().waitFor();
  await playground.type("agents.md", "internal", "secret");
  await editor.locator(".cm-lintRange-error").waitFor();
});

visit("texts typed before the engine is loaded count", async ({ playground, page }) => {
  await playground.input("agents.md").waitFor();
  await playground.type("agents.md", "internal", "confidential");
  await playground.says("Not every requirement has a server");
  assert.equal(await page.getByRole("alert").count(), 0);
}, { wait: false });

visit("a code opens its page of the book over the answer", async ({ playground, page }) => {
  await playground.type("agents.md", "internal", "confidential");
  await playground.says("Not every requirement has a server");
  await playground.answer.getByRole("link", { name: "SENSITIVITY_EXCEEDED" }).first().click();
  await playground.dialog.getByRole("heading", { name: "SENSITIVITY_EXCEEDED" }).waitFor();
  await playground.dialog.getByRole("heading", { name: "Triggered by" }).waitFor();
  assert.match(await playground.dialog.locator("pre").first().innerText(), /\w/);
  assert.equal(page.context().pages().length, 1);
});

visit("a newcomer with a slow network soon reads what this is", async (each) => {
  // The book has the figure of a quiet machine, and the target of one second.
  const milliseconds = await firstPaint(each);
  assert.ok(milliseconds < 3_000, `${milliseconds} ms`);
});

visit("until the page is loaded its frame is there, and nothing moves afterwards", async ({ page, playground, address }) => {
  let release = () => {};
  const held = new Promise((resolve) => (release = () => resolve(undefined)));
  await page.route("**/agent-playground_bg.wasm", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto("about:blank");
  await page.goto(address);
  const shell = page.locator("#shell");
  await shell.getByText("What may an AI agent use and do, and why?").waitFor();
  const place = (/** @type {string} */ name) => page.getByRole("link", { name, exact: true }).boundingBox();
  const before = await place("One call");
  release();
  await playground.says("Every requirement has a server");
  assert.deepEqual(await place("One call"), before);
  assert.equal(await shell.isVisible(), false);
});

visit("the title and the icon of the tab have the answer in short, also while another area is visible", async ({ playground, page }) => {
  const icon = () => page.locator("link[rel=icon]").evaluate(async ({ href }) => {
    const image = new Image();
    image.src = href;
    await image.decode();
    return decodeURIComponent(href).match(/<rect [^>]*fill="([^"]*)"/)?.[1];
  });
  await eventually(async () => assert.equal(await page.title(), "✓ 2 of 2 · agent playground"));
  const yes = await icon();
  await playground.type("agents.md", "internal", "confidential");
  await eventually(async () => assert.equal(await page.title(), "✗ 1 of 2 · agent playground"));
  const no = await icon();
  await playground.paste("agents.md", MANIFEST);
  await playground.paste("agents.lock", LOCK.replace('"write:audiences"', '"write:nothing"'));
  // A yes with a reservation.
  await eventually(async () => assert.equal(await page.title(), "! 2 of 2 · agent playground"));
  const caution = await icon();
  assert.equal(new Set([yes, no, caution, undefined]).size, 4);
  await playground.paste("agents.lock", "");
  await playground.type("agents.md", "internal", "confidential");
  await eventually(async () => assert.equal(await page.title(), "✗ 1 of 2 · agent playground"));
  await page.getByRole("navigation", { name: "Areas" }).getByRole("link", { name: "Grounding" }).click();
  await eventually(async () => assert.match(await page.title(), /^✓ .* · agent playground$/));
  await page.getByRole("navigation", { name: "Areas" }).getByRole("link", { name: "Servers" }).click();
  await eventually(async () => assert.equal(await page.title(), "✗ 1 of 2 · agent playground"));
});

visit("on paper is the answer, with all of it", async ({ playground, page }) => {
  await playground.example("Tools for a task");
  await playground.says("Not every requirement has a server or a tool");
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator("#servers .inputs").isVisible(), false);
  const { bottom, height } = await playground.cards.last().evaluate((card) => card.getBoundingClientRect());
  const total = await page.evaluate(() => document.documentElement.scrollHeight);
  assert.ok(height > 50 && bottom <= total + 1, `${bottom} of ${total}`);
  assert.ok(total > 900, `${total}`);
});

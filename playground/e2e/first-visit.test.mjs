import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { eventually } from "./eventually.mjs";
import { PHONE } from "./fits.mjs";
import { INDEX, LOCK, MANIFEST } from "./hello.mjs";
import { firstPaint } from "./speed.mjs";
import { visit } from "./visit.mjs";

/** @import { Page } from "playwright-core" */

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

visit("the guided minute can be left at any step, and is offered no more", async ({ playground }) => {
  const steps = playground.root.locator(".introduction");
  await steps.getByRole("button", { name: "Three edits" }).click();
  await playground.has(steps.getByRole("status"), [/^1 of 3\. /]);
  await steps.getByRole("button", { name: "Leave" }).click();
  await steps.getByRole("button", { name: "Paste your own configuration" }).waitFor();
  assert.equal(await steps.getByRole("status").count(), 0);
  assert.equal(await steps.getByRole("button", { name: "Three edits" }).count(), 0);
  assert.match(await playground.text("agents.md"), /residency: eu-only/);
}, { example: "" });

visit("on a phone the name, the question and the verdict are in the first view", async ({ page }) => {
  for (const text of [page.getByRole("heading", { level: 1 }), page.locator("#servers .purpose"), page.locator("#servers .answer-line")]) {
    const box = await text.boundingBox();
    assert.ok(box && box.y >= 0 && box.y + box.height <= 740 && box.height > 10, JSON.stringify(box));
  }
}, { browser: PHONE, example: "" });

/** @param {number} many */
const manyServers = (many) => {
  const names = Array.from({ length: many }, (_, at) => `s${at}`);
  const requires = names.map((name) => `    - category: ${name}\n      permissions: []\n`);
  const { servers } = JSON.parse(INDEX);
  const entries = names.map((id) => ({ ...servers[0], id, categories: [id] }));
  return { manifest: `---\nname: many\nversion: 1.0.0\nrequires:\n  mcp:\n${requires.join("")}---\n`, index: JSON.stringify({ ...JSON.parse(INDEX), servers: entries }) };
};

visit("the headline names up to six servers, and counts more", async ({ playground, page }) => {
  for (const [many, line] of /** @type {const} */ ([
    [6, "✓many may use 6 of 6 servers: s0, s1, s2, s3, s4, s5"],
    [7, "✓many may use 7 of 7 servers"],
  ])) {
    const { manifest, index } = manyServers(many);
    await playground.paste("agents.md", manifest);
    await playground.paste("mcp.index.json", index);
    await playground.has(page.locator("#servers .answer-line"), [line]);
  }
});

visit("yes is green, no is red, and undecided is amber", async ({ playground, page }) => {
  const line = page.locator("#servers .answer-line");
  const colour = () => line.locator(".mark").evaluate((it) => getComputedStyle(it).color.match(/\d+/g)?.map(Number) ?? []);
  const yes = await colour();
  assert.ok(yes[1] > yes[0] && yes[1] > yes[2], `${yes}`);
  await playground.type("agents.md", "internal", "confidential");
  await playground.says("Not every requirement has a server");
  const no = await colour();
  assert.ok(no[0] > no[1] && no[0] > no[2], `${no}`);
  await playground.type("agents.md", "ires:", "iers:");
  await playground.says("No decision");
  await playground.has(line, [/^!hello-agent may use nothing yet|^!The agent may use nothing yet/]);
  const undecided = await colour();
  assert.ok(undecided[0] > undecided[1] && undecided[1] > undecided[2], `${undecided}`);
  assert.notDeepEqual(undecided, no);
});

/** @param {Page} page @returns {Promise<string[]>} the buttons in the colour of the next action, or of Share */
const accents = (page) => page.evaluate(() => {
  const buttons = [...document.querySelectorAll("button.primary, button.share")].filter((it) => it.checkVisibility());
  return buttons.map((it) => it.textContent.trim());
});

visit("a page has two accents at most: the next action, and Share", async ({ playground, page }) => {
  assert.deepEqual((await accents(page)).sort(), ["Paste your own configuration", "Share"]);
  await playground.root.getByRole("button", { name: "Three edits" }).click();
  await playground.root.getByRole("button", { name: "Leave" }).waitFor();
  assert.deepEqual((await accents(page)).sort(), ["Do it", "Share"]);
  for (const area of ["Plans", "One call", "Session", "Audit", "Grounding", "Review"]) {
    await page.getByRole("navigation", { name: "Areas" }).getByRole("link", { name: area, exact: true }).click();
    await eventually(async () => assert.ok((await accents(page)).includes("Share"), area));
    await page.locator(".answer-line:visible").first().waitFor();
    const found = await accents(page);
    assert.ok(found.length <= 2, `${area}: ${found}`);
  }
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
  await isWhole(page, playground.cards.last());
  assert.ok((await page.evaluate(() => document.documentElement.scrollHeight)) > 900);
});

/** @param {Page} page @param {import("playwright-core").Locator} last of an answer on paper */
async function isWhole(page, last) {
  const { bottom, height } = await last.evaluate((it) => it.getBoundingClientRect());
  const total = await page.evaluate(() => document.documentElement.scrollHeight);
  assert.ok(height > 15 && bottom <= total + 1, `${bottom} of ${total}`);
  for (const part of [".inputs", ".areas", ".head .actions", ".foot"]) {
    assert.equal(await page.locator(`${part}:visible`).count(), 0, part);
  }
}

visit("on paper is the answer of every other area, too", async ({ page }) => {
  // Lower than any of the answers.
  await page.setViewportSize({ width: 1280, height: 420 });
  for (const [area, last] of [["Plans", ".step"], ["One call", ".step"], ["Session", ".tool-list > li"], ["Audit", ".answer-line"], ["Grounding", ".claim"], ["Review", ".drifts, .definitions"]]) {
    await page.emulateMedia({ media: "screen" });
    await page.getByRole("navigation", { name: "Areas" }).getByRole("link", { name: area, exact: true }).click();
    await page.locator(".answer-line:visible").first().waitFor();
    await page.emulateMedia({ media: "print" });
    await isWhole(page, page.locator(last).filter({ visible: true }).last());
  }
});

import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";
import { fits } from "./fits.mjs";
import { LOCK } from "./hello.mjs";
import { Plans, visitPlans } from "./plans.mjs";
import { stored, visit } from "./visit.mjs";

/** Files that only plans need, by the ends of addresses. */
const OF_PLANS = /\/(agent-plans-page[^/]*|plans\.css|engine\/plans\/[^/]+)$/;

/** Files that only servers need. */
const OF_SERVERS = /\/(agent-playground[^/]*|engine\/(worker\.js|agent-engine[^/]*))$/;

/** @param {import("playwright-core").BrowserContext} context @returns {string[]} the addresses that are asked for from now on */
function requests(context) {
  /** @type {string[]} */
  const asked = [];
  context.on("request", (request) => asked.push(new URL(request.url()).pathname));
  return asked;
}

for (const serviceWorkers of /** @type {const} */ (["block", "allow"])) {
  visit(`the first visit loads nothing of plans; the first look at them does (service workers: ${serviceWorkers})`, async ({ page, context, playground, address }) => {
    const asked = requests(context);
    await page.goto("about:blank");
    await page.goto(address);
    await playground.verdict();
    if (serviceWorkers === "allow") await page.evaluate(() => navigator.serviceWorker.ready);
    await playground.type("agents.md", "internal", "confidential");
    await playground.says("Not every requirement has a server");
    const loaded = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname));
    assert.ok(loaded.some((path) => OF_SERVERS.test(path)), loaded.join(" "));
    assert.deepEqual([...asked, ...loaded].filter((path) => OF_PLANS.test(path)), []);

    const plans = new Plans(page);
    await plans.area("One call");
    await plans.says("The call may be made");
    await eventually(() => assert.ok(asked.some((path) => path.endsWith("/engine/plans/agent-engine_bg.wasm"))));

    // The typed text is still there, and nothing is loaded again.
    await plans.area("Servers");
    await playground.says("Not every requirement has a server");
    const before = asked.length;
    await plans.area("Grounding");
    await plans.says("Each claim quotes the payload");
    await plans.area("Servers");
    await playground.verdict();
    // With another address the browser asks for the icon again.
    assert.deepEqual(asked.slice(before).filter((path) => !path.endsWith("/icon.svg")), []);
  }, { browser: { serviceWorkers } });
}

visitPlans("grounding", "a visit to plans loads nothing of servers", async (plans, { page, playground }) => {
  await plans.says("Each claim quotes the payload");
  const loaded = await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname));
  assert.ok(loaded.some((path) => OF_PLANS.test(path)), loaded.join(" "));
  assert.deepEqual(loaded.filter((path) => OF_SERVERS.test(path)), []);
  await plans.area("Servers");
  await playground.verdict();
});

visitPlans("call", "areas are pages of the history, and the visible one is marked", async (plans, { page }) => {
  const current = page.getByRole("navigation", { name: "Areas" }).locator("[aria-current=page]");
  assert.match(await current.innerText(), /^One call\b/);
  await plans.area("Grounding");
  await plans.says("Each claim quotes the payload");
  assert.match(await current.innerText(), /^Grounding\b/);
  await page.goBack();
  await plans.says("The call may be made");
  assert.match(await current.innerText(), /^One call\b/);
  await page.goForward();
  await plans.says("Each claim quotes the payload");
  assert.equal(await plans.input("payload.json").isVisible(), true);
  assert.equal(await plans.input("call.json").isVisible(), false);
});

/** What is shown of each area: its address, its name, and what happens there. */
const AREAS = [
  ["#", "Servers", "resolve a lock"],
  ["#plans", "Plans", "check each step"],
  ["#call", "One call", "check a tool call"],
  ["#session", "Session", "serve an agent"],
  ["#audit", "Audit", "replay its log"],
  ["#grounding", "Grounding", "check evidence"],
  ["#diff", "Review", "compare two locks"],
];

for (const width of [1440, 1024, 390]) {
  visit(`at ${width} px the areas are in the order of an agent's story`, async ({ page }) => {
    const links = page.getByRole("navigation", { name: "Areas" }).getByRole("link");
    const found = await links.evaluateAll((all) => all.map((link) => [link.getAttribute("href"), link.firstChild?.textContent, link.title]));
    assert.deepEqual(found, AREAS);
    const subtitles = links.locator("small");
    assert.equal(await subtitles.first().isVisible(), width === 1440);
    await links.last().scrollIntoViewIfNeeded();
    await fits(page, "the areas");
    const head = await page.getByRole("banner").boundingBox();
    if (width > 1000) assert.ok(head && head.height < 70, JSON.stringify(head));
  }, { browser: { viewport: { width, height: 860 } } });
}

visit("keys and files go to the visible area", async ({ page, playground }) => {
  const plans = new Plans(page);
  await plans.area("Grounding");
  await plans.says("Each claim quotes the payload");
  await plans.decided.focus();
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("searches a payload for the evidence").waitFor();
  await page.keyboard.press("Escape");
  await plans.area("Servers");
  await playground.verdict();
  await page.getByRole("tab", { name: "Verdict" }).focus();
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("An agent states its requirements in").waitFor();
  await page.keyboard.press("Escape");

  const files = [
    { name: "summary.json", mimeType: "application/json", buffer: Buffer.from("[]") },
    { name: "agents.lock", mimeType: "application/json", buffer: Buffer.from(LOCK) },
    { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("x") },
  ];
  await plans.area("One call");
  await plans.root.getByLabel("Files").setInputFiles(files.slice(0, 2));
  await plans.noticeIs("Opened summary.json, agents.lock");
  assert.equal(await plans.text("agents.lock"), LOCK);
  assert.equal(await plans.text("summary.json"), "[]");
  assert.equal(await playground.text("agents.lock"), "");
  await plans.root.getByLabel("Files").setInputFiles(files.slice(2));
  await plans.noticeIs("Not opened: notes.txt");
  // A document that this area does not show.
  await plans.root.getByLabel("Files").setInputFiles(files.slice(0, 1));
  await plans.says("No decision");
  await plans.claims.first().waitFor({ state: "detached" });
  assert.equal(await plans.input("summary.json").isVisible(), true);
});

visitPlans("call", "typed texts survive a reload, until a reset", async (plans, { page }) => {
  await plans.type("call.json", "list_audiences", "list_audience");
  await plans.says("The call may not be made");
  await page.reload();
  await plans.says("The call may not be made");
  await plans.press("Reset");
  await plans.says("The call may be made");
  await page.reload();
  await plans.says("The call may be made");
});

visitPlans("call", "the theme is the same in all areas", async (plans, { page, playground }) => {
  await plans.press("Theme: system");
  await plans.area("Servers");
  await playground.verdict();
  await playground.press("Theme: light");
  await plans.area("One call");
  await plans.press("Theme: dark");
  await plans.press("Theme: system");
  await plans.press("Theme: light");
  assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
});

visit("a module that can't be loaded is reported, and tried again", async ({ page }) => {
  await page.route("**/agent-plans-page_bg.wasm", (route) => route.abort());
  const plans = new Plans(page);
  await plans.area("One call");
  await page.getByRole("alert").filter({ hasText: "can't be loaded" }).waitFor();
  await page.unroute("**/agent-plans-page_bg.wasm");
  await page.getByRole("button", { name: "Try again" }).click();
  await plans.says("The call may be made");
}, { expected: [/ERR_FAILED/] });

visit("without a network, plans that were never seen are no dead end", async ({ page, playground, stopServer }) => {
  await stored(page);
  await stopServer();
  const plans = new Plans(page);
  await plans.area("Plans");
  await page.getByRole("alert").filter({ hasText: "plans.css is not there. Without a network" }).waitFor();
  await page.getByRole("link", { name: "Back to servers" }).click();
  await playground.says("Every requirement has a server");
}, { browser: { serviceWorkers: "allow" }, expected: [/Failed to load resource/, /plans\.css/] });

visitPlans("call", "an engine of plans that can't be loaded is reported", async (plans, { page }) => {
  await page.route("**/engine/plans/agent-engine_bg.wasm", (route) => route.abort());
  await page.reload();
  await page.getByRole("alert").filter({ hasText: "These inputs are undecided" }).waitFor();
  await page.unroute("**/engine/plans/agent-engine_bg.wasm");
  await plans.type("call.json", "list_audiences", "list_audience");
  await plans.says("The call may not be made");
  assert.equal(await page.getByRole("alert").count(), 0);
}, { expected: [/ERR_FAILED/, /Failed to fetch/] });

visit("after the first look at plans they work without the server", async ({ page, playground, stopServer }) => {
  await stored(page);
  // From here on, the service worker answers, and stores the requested files.
  await page.reload();
  await playground.verdict();
  const plans = new Plans(page);
  await plans.area("Grounding");
  await plans.says("Each claim quotes the payload");
  await stopServer();
  await page.reload();
  await plans.says("Each claim quotes the payload");
  await plans.type("summary.json", "31977", "31978");
  await plans.says("Not every claim quotes the payload");
}, {
  browser: { serviceWorkers: "allow" },
  expected: [/^console: Failed to load resource: net::ERR_CONNECTION_REFUSED$/],
});

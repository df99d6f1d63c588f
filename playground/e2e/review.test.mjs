import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import axe from "axe-core";
import { violations } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { fits } from "./fits.mjs";
import { tabTo } from "./keys.mjs";
import { AFTER, BEFORE, Reviews, visitReviews } from "./reviews.mjs";
import { visit } from "./visit.mjs";

/** Files that only reviews need, by the ends of addresses. */
const OF_REVIEWS = /\/(agent-review-page[^/]*|review\.css|engine\/policy\/[^/]+)$/;

const GAINED = "audiences: the scope write:audiences is newly granted";

visit("the first visit loads nothing of reviews; the first look at them does", async ({ page, playground }) => {
  const loaded = () => page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname));
  assert.deepEqual((await loaded()).filter((path) => OF_REVIEWS.test(path)), []);
  const reviews = new Reviews(page);
  await reviews.area("Review");
  await reviews.says(GAINED);
  assert.ok((await loaded()).some((path) => OF_REVIEWS.test(path)));
  await reviews.area("Servers");
  await playground.says("Every requirement has a server");
});

visitReviews("more access is first, in one sentence and in amber", async (reviews, { page }) => {
  await reviews.says(GAINED);
  assert.match(await reviews.headline.getAttribute("class"), /\bcaution\b/);
  await reviews.has(reviews.facts, ["newsletter 1.5.0 · 1 change with more access · 2 other changes · 1 new tool · 1 changed definition"]);
  await reviews.has(reviews.drifts, [/^SCOPE_WIDENED .*more access before\/agents\.lock:\d+:\d+$/, /^AGENT_CHANGED /, /^VERSION_CHANGED /]);
  await reviews.has(reviews.root.locator(".drifts > ul > .widening"), [/^SCOPE_WIDENED /]);
  await reviews.has(reviews.root.locator(".drifts h3"), ["More access", "Other changes"]);
  assert.match(await page.title(), /^! 1 change with more access/);
});

visitReviews("a change that takes access away is no warning, and is last", async (reviews) => {
  await reviews.example("A change that only takes access away");
  await reviews.says("No change gives the agent more access");
  assert.match(await reviews.headline.getAttribute("class"), /\bneutral\b/);
  await reviews.has(reviews.drifts, [/^AGENT_CHANGED /, /^VERSION_CHANGED /, /^SCOPE_NARROWED /]);
  assert.equal(await reviews.root.locator(".widening, #review-answer .badge.warning").count(), 0);
  await reviews.press("Exchange sides");
  await reviews.says(GAINED);
});

visitReviews("definitions and documents are compared line by line", async (reviews) => {
  await reviews.has(reviews.tools.locator("summary"), ["add_to_audience of acme new", "list_audiences of acme changed"]);
  const changed = reviews.tools.nth(1);
  await reviews.has(changed.locator(".cm-deletedLine"), [/"description": "Lists the audiences of the account\."/, /"maximum": 50,/]);
  await reviews.has(changed.locator(".cm-changedLine"), [/with the addresses in them/, /"maximum": 5000,/]);
  // A new tool has nothing to be compared with.
  assert.equal(await reviews.tools.first().locator(".cm-deletedChunk, .cm-changedLine").count(), 0);
  await reviews.has(reviews.documents.locator("summary"), ["agents.md", "policy.rego", "agents.lock"]);
  await reviews.documents.nth(1).locator("summary").click();
  await reviews.documents.nth(1).locator(".cm-deletedChunk", { hasText: "2000" }).waitFor();
});

visitReviews("equal documents have no difference", async (reviews) => {
  await reviews.example("No difference");
  await reviews.says("No differences");
  assert.match(await reviews.headline.getAttribute("class"), /\byes\b/);
  for (const list of [reviews.drifts, reviews.tools, reviews.documents]) assert.equal(await list.count(), 0);
});

visitReviews("a document with an error is shown with its place on its side", async (reviews) => {
  await reviews.paste("before/agents.lock", BEFORE.slice(0, 200));
  await reviews.says("Nothing is compared: a document has an error");
  await reviews.problems.locator(".place", { hasText: "before/agents.lock:" }).first().click();
  await eventually(async () => assert.notEqual(await reviews.cursor("before/agents.lock"), "1:1"));
  await reviews.paste("before/agents.lock", AFTER);
  await reviews.says("a tool is new: add_to_audience of acme");
});

visitReviews("without locks the documents of each side are resolved", async (reviews) => {
  await reviews.example("Two versions of agents.md");
  await reviews.says(GAINED);
  await reviews.has(reviews.documents.locator("summary"), ["agents.md", "agents.lock"]);
  await reviews.type("agents.md", ", write:audiences", "");
  await reviews.says("a tool is new: add_to_audience of acme");
  await reviews.paste("agents.md", "");
  await reviews.says("There is no later lock");
});

visitReviews("a first lock grants all that it has", async (reviews) => {
  await reviews.example("The first lock of an agent");
  await reviews.says("audiences: newly selected: acme 3.5.0 (read:audiences, write:audiences)");
  await reviews.has(reviews.drifts, [/^REQUIREMENT_ADDED /, /^REQUIREMENT_ADDED /, /^FORBID_ADDED /]);
});

visitReviews("a link holds both sides, each under its name", async (reviews, { another }) => {
  await reviews.paste("before/agents.lock", BEFORE.replace("newsletter", "old-letter"));
  await reviews.settled();
  await reviews.press("Share");
  const link = await reviews.dialog.getByLabel("Link").inputValue();
  assert.match(link, /#diff\.1\./);
  const fields = await reviews.page.evaluate(async (packed) => {
    const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return Object.keys(JSON.parse(await new Response(stream).text())).sort();
  }, link.split("#diff.1.")[1]);
  assert.deepEqual(fields, ["area", "beforeIndex", "beforeLock", "beforeManifest", "beforePolicy", "engine", "index", "lock", "manifest", "policy"]);
  const there = new Reviews((await another({ fragment: link.split("#")[1], wait: false })).page);
  await there.noticeIs("Opened the link");
  assert.match(await there.text("before/agents.lock"), /old-letter/);
  assert.equal(await there.text("agents.lock"), AFTER);
  await there.says(GAINED);
});

visitReviews("the link of `agent diff --share` opens its review", async (_, { another }) => {
  // A test of the program keeps it up to date.
  const link = (await readFile(new URL("program-review-link.txt", import.meta.url), "utf8")).trim();
  const there = new Reviews((await another({ fragment: link.split("#")[1], wait: false })).page);
  await there.says(GAINED);
  await there.root.getByText("A lock has the digests of definitions alone.").waitFor();
  assert.equal(await there.text("agents.md"), "");
});

visitReviews("the review is copied as `agent diff` prints it", async (reviews, { page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await reviews.root.locator("#review-answer").getByRole("button", { name: "Copy as Markdown" }).click();
  await reviews.noticeIs("Copied the review");
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^### 3 differences, 1 gives the agent more access\n\n\*\*More access\*\*\n/);
});

visitReviews("the keyboard alone opens a definition", async (reviews, { page }) => {
  await reviews.documents.first().locator("summary").waitFor();
  await reviews.tools.last().locator("summary").focus();
  await tabTo(page, "agents.md");
  await page.keyboard.press("Enter");
  await reviews.documents.first().locator(".cm-content").waitFor();
});

visitReviews("hostile texts stay texts", async (reviews, { page }) => {
  const hostile = "<img src=x onerror=\"window.ran='img'\">";
  const index = JSON.parse(await reviews.text("mcp.index.json"));
  index.servers[0].capabilities.tools.list_audiences.description = `${hostile} ${"x".repeat(5_000)}`;
  await reviews.paste("mcp.index.json", JSON.stringify(index));
  await reviews.tools.locator(".cm-content", { hasText: "onerror" }).waitFor();
  await fits(page, "hostile texts");
  assert.equal(await page.evaluate(() => window["ran"]), undefined);
});

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  visitReviews(`axe finds no serious violation (${colorScheme})`, async (reviews, { page }) => {
    await page.evaluate(axe.source);
    const found = [];
    const look = async (/** @type {string} */ state) => {
      for (const violation of await violations(page)) found.push(`${state}: ${violation}`);
    };
    await look("more access");
    for (const example of ["A change that only takes access away", "No difference", "A lock that was cut off"]) {
      await reviews.example(example);
      await look(example);
    }
    await reviews.paste("agents.lock", "");
    await reviews.paste("agents.md", "");
    await reviews.says("There is no later lock");
    await look("nothing to compare");
    assert.deepEqual(found, []);
  }, { browser: { colorScheme } });
}

for (const width of [390, 320]) {
  visitReviews(`at ${width} px nothing scrolls sideways`, async (reviews, { page }) => {
    await reviews.says(GAINED);
    await fits(page, "more access");
    await reviews.documents.first().locator("summary").click();
    await fits(page, "a document");
    await reviews.example("A lock that was cut off");
    const parts = page.getByRole("navigation", { name: "Parts of the page" });
    await parts.getByRole("button", { name: "Answer" }).click();
    await fits(page, "an error");
  }, { browser: { viewport: { width, height: 740 } } });
}

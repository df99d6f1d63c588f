import assert from "node:assert/strict";
import { PHONE, fits } from "./fits.mjs";
import { LOCK } from "./hello.mjs";
import { visitPlans } from "./plans.mjs";
import { visit } from "./visit.mjs";

visit("at 360 × 740 every part is reached, and the page never scrolls sideways", async ({ playground, page }) => {
  const parts = page.getByRole("navigation", { name: "Parts of the page" });
  await fits(page, "Verdict");
  for (const tab of ["Matrix", "What if", "agents.lock", "Explanation", "Verdict"]) {
    await playground.open(tab);
    await fits(page, tab);
  }
  const names = /** @type {const} */ (["agents.md", "mcp.index.json", "task.yaml", "tenant.yaml", "health.yaml", "policy.rego", "agents.lock"]);
  for (const name of names) {
    await parts.getByRole("button", { name }).tap();
    await playground.input(name).waitFor();
    assert.ok(((await playground.input(name).boundingBox())?.height ?? 0) > 200, name);
    await fits(page, name);
  }
  await playground.paste("agents.lock", LOCK.replace("9e864cac", "00000000"));
  await parts.getByRole("button", { name: "Answer" }).tap();
  await playground.open("agents.lock");
  await playground.answer.getByText("HASH_CHANGED").first().waitFor();
  await fits(page, "drifts");
  await playground.open("What if");
  await page.getByLabel("residency").selectOption("eu-only");
  await playground.answer.locator(".comparison").waitFor();
  await fits(page, "a comparison");
  await playground.open("Verdict");

  await parts.getByRole("button", { name: "agents.md" }).tap();
  await playground.type("agents.md", "internal", "confidential");
  await parts.getByRole("button", { name: "Answer" }).tap();
  await playground.says("Not every requirement has a server");
  await fits(page, "a rejection");

  const card = playground.card("reporting");
  await playground.card("audiences").getByRole("button", { name: /How the tie/ }).tap();
  await playground.answer.locator(".list").waitFor();
  await fits(page, "a list");
  await card.locator(".nearest .server").first().tap();
  await playground.explanation.locator(".checks").waitFor();
  await fits(page, "an explanation");
  await playground.explanation.getByRole("button", { name: /^agents\.md:/ }).first().tap();
  await playground.input("agents.md").waitFor();
  await parts.getByRole("button", { name: "Answer" }).tap();
  await playground.explanation.getByRole("button", { name: "Close the explanation" }).tap();

  for (const name of ["Examples", "Recent", "Share", "Help"]) {
    await playground.press(name);
    await playground.dialog.waitFor();
    await fits(page, name);
    await playground.dialog.getByRole("button", { name: "Close", exact: true }).tap();
  }
  await card.getByRole("button", { name: "Apply" }).first().tap();
  await playground.noticeIs("Applied");
  await fits(page, "a notice");
  await playground.notice.getByRole("button", { name: "Undo" }).tap();
}, { browser: PHONE });

for (const [where, viewport] of /** @type {const} */ ([["a phone in landscape", { width: 740, height: 360 }], ["1440 × 900 at 400 %", { width: 360, height: 225 }]])) {
  visit(`in ${where} the page scrolls, and the answer has room`, async ({ playground, page }) => {
    await fits(page, "a verdict");
    assert.ok(await page.getByRole("contentinfo").isHidden());
    await playground.answer.evaluate((answer) => answer.scrollIntoView());
    const { top, height } = await playground.answer.evaluate((answer) => answer.getBoundingClientRect());
    assert.ok(Math.abs(top) < 2 && height > 400, `${top} ${height}`);
    const parts = await page.getByRole("navigation", { name: "Parts of the page" }).boundingBox();
    assert.ok(parts && parts.y + parts.height <= viewport.height + 1, "the parts are out of sight");
    const { bottom } = await page.getByRole("banner").evaluate((head) => head.getBoundingClientRect());
    assert.ok(bottom < 0, "the head stays over the answer");
    await page.evaluate(() => scrollTo(0, 0));
    assert.ok(((await page.getByRole("banner").boundingBox())?.height ?? 99) <= 48, "the head has several rows");
    const covered = await page.locator("#servers .areas a").evaluateAll((links) => links.filter((link) => {
      link.scrollIntoView({ inline: "center", block: "nearest" });
      const { x, y, width, height } = link.getBoundingClientRect();
      return document.elementFromPoint(x + width / 2, y + height / 2)?.closest("a") !== link;
    }).map((link) => link.textContent));
    assert.deepEqual(covered, [], "areas that can't be pressed");
    await playground.press("Help");
    await playground.dialog.waitFor();
    await fits(page, "help");
    // What a newcomer may do is there too.
    await playground.dialog.getByRole("button", { name: "Close", exact: true }).tap();
    await page.getByRole("navigation", { name: "Parts of the page" }).getByRole("button", { name: "agents.md" }).tap();
    await playground.root.getByRole("button", { name: "Paste your own configuration" }).waitFor();
  }, { browser: { viewport, hasTouch: true, isMobile: true } });
}

visitPlans("grounding", "on a phone the visible area stays in sight", async (_, { page }) => {
  const box = await page.locator("#plans .areas a[aria-current]").boundingBox();
  assert.ok(box && box.x >= 0 && box.x + box.width <= 360, JSON.stringify(box));
}, { browser: PHONE });

visit("at 320 px long names leave room for the cells", async ({ playground }) => {
  await playground.example("Tools for a task");
  await playground.notice.getByRole("button", { name: "Close" }).tap();
  await playground.open("Matrix");
  await playground.answer.getByRole("button", { name: "Tools", exact: true }).tap();
  await playground.answer.getByRole("button", { name: /^repo-reader 1.0.3 \/ read_file, read:codebase/ }).tap();
  await playground.explanation.locator(".checks").waitFor();
}, { browser: { ...PHONE, viewport: { width: 320, height: 740 } } });

visit("at 360 × 740 the answer in short is in view while one types", async ({ playground, page }) => {
  const parts = page.getByRole("navigation", { name: "Parts of the page" });
  await parts.getByRole("button", { name: "agents.md" }).tap();
  await playground.has(parts.locator(".brief"), ["✓ yes: 2 of 2"]);
  await playground.type("agents.md", "internal", "confidential");
  await playground.has(parts.locator(".brief"), ["✗ no: 1 of 2"]);
  const box = await parts.locator(".brief").boundingBox();
  assert.ok(box && box.x > 0 && box.x + box.width <= 360 && box.y + box.height <= 740, JSON.stringify(box));
}, { browser: PHONE });

visit("at 360 × 740 capabilities, tools and policies don't scroll sideways either", async ({ playground, page }) => {
  await playground.example("Tools for a task");
  await playground.says("Not every requirement has a server or a tool");
  await fits(page, "capabilities");
  await playground.card("read:codebase").locator(".nearest .server").first().tap();
  await playground.explanation.locator(".checks").waitFor();
  await fits(page, "the explanation of a tool");
  await playground.explanation.getByRole("button", { name: "Suppose HEALTHY" }).tap();
  await playground.says("Every requirement has a server or a tool");
  await playground.explanation.getByRole("button", { name: "Close the explanation" }).tap();
  await playground.answer.getByRole("img", { name: "Token budget" }).waitFor();
  await fits(page, "the token budget");
  await playground.open("Matrix");
  await playground.answer.getByRole("button", { name: "Tools", exact: true }).tap();
  await playground.answer.getByText("9 tools").waitFor();
  await fits(page, "a matrix of tools");
  await playground.open("Verdict");
  await playground.example("A policy in Rego");
  await playground.answer.getByText("POLICY_DENIED").first().waitFor();
  await fits(page, "a policy");
  await page.getByRole("navigation", { name: "Parts of the page" }).getByRole("button", { name: "policy.rego" }).tap();
  await playground.input("policy.rego").waitFor();
  await playground.input("context.yaml").waitFor();
  await fits(page, "the text of a policy");
}, { browser: PHONE });

visitPlans("plans", "at 360 × 740 plans and groundings don't scroll sideways either", async (plans, { page }) => {
  await fits(page, "a plan");
  await plans.check("lock").tap();
  await plans.detail.waitFor();
  await fits(page, "a check of a step");
  await plans.example("Everything at once");
  await plans.says("The plan may not run");
  await fits(page, "a plan that may not run");
  await page.getByText("Validation report").tap();
  await page.getByText("Documents of this decision").tap();
  await fits(page, "a report");
  await plans.area("One call");
  await plans.says("The call may be made");
  await fits(page, "a call");
  await plans.check("definition").tap();
  await plans.detail.waitFor();
  await fits(page, "a check");
  await page.getByText("Authorised plan").tap();
  await page.getByText("Documents of this decision").tap();
  await fits(page, "what is authorised");
  await plans.example("A tool that was changed since");
  await plans.says("The call may not be made");
  await fits(page, "a problem");
  await plans.detail.getByRole("button", { name: /^call\.json:/ }).tap();
  await plans.input("call.json").waitFor();
  const parts = page.getByRole("navigation", { name: "Parts of the page" });
  for (const name of /** @type {const} */ (["mcp.index.json", "agents.lock", "catalogue.json", "call.json"])) {
    await parts.getByRole("button", { name }).tap();
    await plans.input(name).waitFor();
    assert.ok(((await plans.input(name).boundingBox())?.height ?? 0) > 200, name);
    await fits(page, name);
  }
  await plans.area("Grounding");
  await plans.example("Put together from two places");
  await plans.says("Not every claim quotes the payload");
  await fits(page, "a grounding");
  await plans.claims.first().getByRole("button", { name: /^payload\.json:/ }).first().tap();
  await plans.input("payload.json").waitFor();
  await fits(page, "a payload");
  for (const name of ["Examples", "Help"]) {
    await plans.press(name);
    await plans.dialog.waitFor();
    await fits(page, name);
    await plans.dialog.getByRole("button", { name: "Close", exact: true }).tap();
  }
}, { browser: PHONE });

/** @param {import("playwright-core").Page} page @returns {Promise<string[]>} what is wrong with the order of headings */
function skipped(page) {
  return page.evaluate(() => {
    const shown = [...document.querySelectorAll("h1, h2, h3, h4, h5")].filter((heading) => heading.getClientRects().length > 0);
    const levels = shown.map((heading) => Number(heading.localName[1]));
    const wrong = shown.filter((_, at) => levels[at] > (levels[at - 1] ?? 0) + 1);
    return wrong.map((heading) => `${heading.localName} ${heading.textContent}`);
  });
}

visit("at 390 px no level of headings is skipped", async ({ playground, page }) => {
  assert.deepEqual(await skipped(page), []);
  await playground.example("JSON with a comma too many");
  await playground.says("No decision");
  assert.deepEqual(await skipped(page), []);
  await playground.press("Reset");
  await playground.says("Every requirement has a server");
  const parts = page.getByRole("navigation", { name: "Parts of the page" });
  for (const name of /** @type {const} */ (["agents.md", "policy.rego", "Answer"])) {
    await parts.getByRole("button", { name }).tap();
    assert.deepEqual(await skipped(page), [], name);
  }
  await playground.open("Matrix");
  await playground.answer.getByRole("button", { name: /^gamma 1.0.0, audiences/ }).tap();
  await playground.explanation.locator(".checks").waitFor();
  assert.deepEqual(await skipped(page), []);
}, { browser: { ...PHONE, viewport: { width: 390, height: 844 } } });

visitPlans("plans", "at 390 px no level of headings is skipped in plans", async (plans, { page }) => {
  await plans.example("Everything at once");
  await plans.says("The plan may not run");
  assert.deepEqual(await skipped(page), []);
}, { browser: { ...PHONE, viewport: { width: 390, height: 844 } } });

import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";
import { INDEX, MANIFEST } from "./hello.mjs";
import { PLAN, visitPlans } from "./plans.mjs";
import { visit } from "./visit.mjs";

visitPlans("plans", "a fix is shown as a difference at its place", async (plans) => {
  await plans.paste("plan.json", PLAN.replace('"tool_id": "list"', '"tool_id": "lists"'));
  await plans.says("The plan may not run");
  const fix = plans.detail.locator(".fix").first();
  await plans.has(fix.locator(".difference li"), [/^"tool_id": "?lists"? → "?list"?$/]);
  await plans.has(fix.locator("del"), [/^"?lists"?$/]);
  await plans.has(fix.locator("ins"), [/^"?list"?$/]);
});

visitPlans("plans", "a fix that is no repair says so in words, and no other does", async (plans) => {
  for (const example of ["Longer than the cap", "Everything at once", "No rule allows it"]) {
    await plans.example(example);
    await plans.says("The plan may not run");
    await plans.root.locator(".fix").first().waitFor();
    const widening = plans.root.locator(".fix.widening");
    const words = plans.root.locator(".fix", { hasText: "changes what is asked for or allowed" });
    assert.ok((await words.count()) > 0, example);
    assert.equal(await words.count(), await widening.count(), example);
    assert.equal(await words.and(widening).count(), await words.count(), example);
  }
});

visit("a difference follows the text, and none is shown of an earlier text", async ({ playground }) => {
  await playground.type("agents.md", "y: audiences", "y: audience");
  await playground.says("Not every requirement has a server");
  const difference = playground.problems.locator(".difference li");
  await playground.has(difference, ["- category: audience → audiences"]);
  await playground.paste("agents.md", MANIFEST.replace("y: audiences", "y: audience").replace("name:", "# a line above\nname:"));
  await playground.has(playground.problems.locator(".problem > p"), [/agents\.md:7:17$/]);
  await playground.has(difference, ["- category: audience → audiences"]);
});

visit("what would have to be true of a server is grey, behind all fixes, and no fix", async ({ playground, page }) => {
  await playground.paste("agents.md", MANIFEST.replace("residency: us-only", "residency: us-only\n  trust:\n    requireSigned: true"));
  await playground.type("agents.md", "category: audiences", "category: unknown-category");
  await playground.says("Not every requirement has a server");
  const card = playground.cards.first();
  const claims = card.locator(".suppositions");
  await claims.getByRole("heading", { name: "Claims about the server, which no fix makes true" }).waitFor();
  assert.equal(await claims.locator("button, .fix").count(), 0);
  const colours = await claims.evaluate((section) => [getComputedStyle(section).color, getComputedStyle(document.querySelector(".facts")).color]);
  assert.equal(colours[0], colours[1]);
  const behind = await card.evaluate((element) => {
    const claims = element.querySelector(".suppositions");
    return [...element.querySelectorAll(".reasons, .fix")].every((each) => each.compareDocumentPosition(claims) & Node.DOCUMENT_POSITION_FOLLOWING);
  });
  assert.ok(behind);
  assert.equal(await page.locator(".apply-all").count(), 0);
});

visit("supposing another health is behind everything else of an explanation", async ({ playground }) => {
  await playground.example("Tools for a task");
  await playground.card("read:codebase").locator(".nearest .server").first().click();
  await playground.explanation.locator(".health").waitFor();
  const last = await playground.explanation.locator(".health").evaluate((health) => {
    const others = health.parentElement.querySelectorAll(".reasons, .fixes, .suppositions, .checks");
    return others.length > 1 && [...others].every((each) => each.compareDocumentPosition(health) & Node.DOCUMENT_POSITION_FOLLOWING);
  });
  assert.ok(last);
});

visit("the reason of the parser stands beside a syntax error", async ({ playground }) => {
  await playground.paste("agents.lock", "{");
  await playground.has(playground.problems.locator(".problem .cause"), [/\S/]);
  const [label] = await playground.texts(playground.problems.locator(".problem .cause"));
  assert.match(label, /^: .*(end|expected|\})/);
});

visit("a missing scope is marked where it is asked for, and no scope that is there", async ({ playground, page }) => {
  await playground.open("Matrix");
  await playground.answer.getByRole("button", { name: /^gamma 1.0.0, audiences/ }).click();
  await eventually(async () => {
    const asked = await playground.texts(page.locator(".input.manifest .cm-place"));
    assert.ok(asked.includes("write:audiences"), asked.join());
    assert.ok(!asked.some((text) => text.includes("read:audiences")), asked.join());
    const offered = await playground.texts(page.locator(".input.lower .cm-place"));
    assert.ok(offered.includes('"eu-only"'), offered.join());
    assert.ok(!offered.some((text) => text.includes("read:audiences")), offered.join());
  });
});

visit("a document in the wrong place goes where it belongs, and back by undo", async ({ playground }) => {
  await playground.paste("agents.md", INDEX);
  await playground.says("No decision");
  const problem = playground.problems.locator(".problem", { hasText: "WRONG_DOCUMENT" });
  await problem.getByText("It belongs in mcp.index.json").waitFor();
  assert.doesNotMatch(await problem.innerText(), /--/);
  await playground.paste("mcp.index.json", MANIFEST);
  await playground.problems.getByRole("button", { name: "Exchange with agents.md" }).waitFor();
  await playground.problems.getByRole("button", { name: "Exchange with mcp.index.json" }).click();
  await playground.says("Every requirement has a server");
  assert.equal(await playground.text("agents.md"), MANIFEST);
  await playground.noticeIs("Exchanged agents.md with mcp.index.json");
  await playground.notice.getByRole("button", { name: "Undo" }).click();
  await playground.says("No decision");
  assert.equal(await playground.text("agents.md"), INDEX);
});

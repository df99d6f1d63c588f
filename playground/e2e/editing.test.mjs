import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";
import { INDEX, MANIFEST } from "./hello.mjs";
import { visit } from "./visit.mjs";

/** @param {import("./playground.mjs").Playground} playground */
async function bothTexts(playground) {
  return (await playground.text("agents.md")) + (await playground.text("mcp.index.json"));
}

visit("another residency is rejected with the code and the place, and one click makes it pass", async ({ playground }) => {
  await playground.type("mcp.index.json", '"eu-only", "us-only"', '"eu-only"');
  await playground.says("Not every requirement has a server");
  const card = playground.card("reporting");
  await card.locator(".code", { hasText: "UNSATISFIED" }).waitFor();
  // What to do comes first.
  await playground.has(card.locator(".nearest > li:first-child > :first-child"), [/^In the manifest, .*Apply$/]);
  await playground.has(card.locator(".nearest > li:first-child .reasons li"), [/eu-only.* RESIDENCY_MISMATCH$/]);

  await card.getByRole("button", { name: "agents.md:8:7" }).click();
  await eventually(async () => assert.equal(await playground.cursor("agents.md"), "8:7"));

  const before = await bothTexts(playground);
  await card.locator(".fix").first().getByRole("button", { name: "Apply" }).click();
  await playground.noticeIs(/^Applied: [^`]*(×|$)/);
  await playground.says("Every requirement has a server");
  assert.notEqual(await bothTexts(playground), before);

  await playground.notice.getByRole("button", { name: "Undo" }).click();
  await playground.says("Not every requirement has a server");
  assert.equal(await bothTexts(playground), before);
});

visit("every suggested fix makes its requirement pass, and can be undone", async ({ playground }, t) => {
  await playground.type("agents.md", "internal", "pii.high");
  await playground.says("Not every requirement has a server");
  const before = await bothTexts(playground);
  const buttons = playground.cards.locator(".fix .apply");
  const count = await buttons.count();
  t.diagnostic(`${count} changes`);
  assert.ok(count >= 3);
  for (let at = 0; at < count; at++) {
    const button = buttons.nth(at);
    const number = await button.evaluate((element) => [...document.querySelectorAll(".card")].indexOf(element.closest(".card")));
    const card = playground.cards.nth(number);
    await button.click();
    await card.and(playground.page.locator(".yes")).waitFor();
    await playground.notice.getByRole("button", { name: "Undo" }).click();
    await card.and(playground.page.locator(".no")).waitFor();
    await playground.verdict();
    assert.equal(await bothTexts(playground), before);
  }
});

visit("one click applies all safe fixes, and another undoes them", async ({ playground, page }) => {
  await playground.type("agents.md", "itivity", "itivty");
  await playground.type("agents.md", "dency", "dancy");
  await playground.says("No decision");
  const before = await bothTexts(playground);
  await page.getByRole("button", { name: "Apply all 2 safe fixes" }).click();
  await playground.noticeIs("Applied: 2 safe fixes");
  await playground.says("Every requirement has a server");
  assert.equal(await playground.text("agents.md"), MANIFEST);
  assert.equal(await page.locator(".apply-all").count(), 0);
  await playground.notice.getByRole("button", { name: "Undo" }).click();
  await playground.says("No decision");
  assert.equal(await bothTexts(playground), before);
});

visit("a name that is almost one of the index is a problem with a fix", async ({ playground, page }) => {
  await playground.type("agents.md", "y: audiences", "y: audience");
  await playground.says("Not every requirement has a server");
  await playground.has(playground.problems.locator(".problem > p"), [/^error UNSATISFIED .*audience.* agents.md:6:17$/]);
  await page.locator(".input.manifest .badge", { hasText: "1 error" }).waitFor();
  await playground.problems.getByRole("button", { name: "Apply" }).click();
  await playground.says("Every requirement has a server");
  assert.equal(await playground.text("agents.md"), MANIFEST);
});

visit("problems are underlined and listed, and a click goes there", async ({ playground, page }) => {
  await playground.type("agents.md", "internal", "top-secret");
  await playground.says("No decision");
  const problem = playground.problems.getByRole("listitem").first();
  await playground.has(playground.problems.locator(".problem p"), [/^error \w+ .*top-secret.* agents.md:13:18$/]);
  await page.locator(".input.manifest .cm-lintRange-error").filter({ hasText: "top-secret" }).waitFor();
  await page.locator(".input.manifest .badge", { hasText: "1 error" }).waitFor();

  await problem.locator(".message").click();
  await eventually(async () => assert.equal(await playground.cursor("agents.md"), "13:18"));
  assert.ok(await playground.input("agents.md").evaluate((content) => content === document.activeElement));

  // A pause in typing, as on a busy machine, begins another step.
  await eventually(async () => {
    await page.keyboard.press("Control+z");
    assert.equal(await playground.text("agents.md"), MANIFEST);
  });
  await playground.says("Every requirement has a server");
  await page.keyboard.press("Control+y");
  await playground.says("No decision");
});

visit("a problem of the index brings the index to the front", async ({ playground, page }) => {
  await page.locator("button.input-name", { hasText: "agents.lock" }).click();
  await playground.paste("mcp.index.json", '{"servers": 1}');
  await playground.says("No decision");
  await page.locator("button.input-name", { hasText: "agents.lock" }).click();
  await playground.problems.getByRole("button", { name: "mcp.index.json:1:13" }).click();
  await playground.input("mcp.index.json").waitFor();
  await eventually(async () => assert.equal(await playground.cursor("mcp.index.json"), "1:13"));
});

visit("an empty page asks for both inputs", async ({ playground }) => {
  await playground.paste("agents.md", "");
  await playground.paste("mcp.index.json", "");
  await playground.says("No decision");
  await playground.input("agents.md").getByText("Paste agents.md here").waitFor();
  await playground.input("mcp.index.json").getByText("Paste mcp.index.json here").waitFor();
});

visit("the same problem is underlined again when its example is opened again", async ({ playground, page }) => {
  const underlined = page.locator(".input.lower .cm-lintRange-error");
  for (let times = 0; times < 2; times++) {
    await playground.example("JSON with a comma too many");
    await playground.says("No decision");
    await underlined.first().waitFor();
  }
});

visit("what an edit changed is in the card, until other texts are opened", async ({ playground }) => {
  const was = playground.cards.locator(".was");
  assert.equal(await was.count(), 0);
  await playground.type("agents.md", "internal", "confidential");
  await playground.says("Not every requirement has a server");
  await playground.has(was, ["was chart-reports 3.4.1"]);
  await playground.paste("agents.md", MANIFEST);
  await playground.says("Every requirement has a server");
  await playground.has(was, ["was no server"]);
  await playground.press("Reset");
  await playground.noticeIs("Reset");
  await playground.verdict();
  await playground.has(was, []);
});

visit("while a text is broken, the last decision stays below the error in grey", async ({ playground }) => {
  await playground.type("agents.md", "ires:", "ires");
  await playground.says("No decision: an input has errors");
  const before = playground.answer.locator(".before");
  await playground.has(before.locator("h3"), [/audiences/, /reporting/]);
  assert.equal(await before.evaluate((section) => section.inert && getComputedStyle(section).filter), "grayscale(1)");
  await playground.type("agents.md", "ires", "ires:");
  await playground.says("Every requirement has a server");
  assert.equal(await before.isVisible(), false);
});

visit("an applied fix is in view, also in a line that is thousands of characters long, and Reset scrolls back", async ({ playground }) => {
  const line = JSON.stringify(JSON.parse(INDEX));
  const at = line.lastIndexOf('"trust"');
  assert.ok(at > 500);
  await playground.paste("mcp.index.json", `${line.slice(0, at)}"trsut"${line.slice(at + '"trust"'.length)}`);
  await playground.problems.getByText("MISSING_FIELD").waitFor();
  await playground.show("agents.lock");
  await playground.problems.getByRole("button", { name: "Apply", exact: true }).click();
  await playground.noticeIs("Applied");
  const input = playground.input("mcp.index.json");
  const seen = () =>
    input.evaluate((content, offset) => {
      const { view } = content.cmTile.root;
      const place = view.coordsAtPos(offset);
      const frame = view.scrollDOM.getBoundingClientRect();
      return place !== null && place.left >= frame.left && place.right <= frame.right && place.top >= frame.top && place.bottom <= frame.bottom;
    }, at);
  await eventually(async () => assert.ok(await seen()));
  assert.equal(await playground.text("mcp.index.json"), line);

  await playground.press("Reset");
  await playground.says("Every requirement has a server");
  await eventually(async () => assert.equal(await input.evaluate((content) => content.cmTile.root.view.scrollDOM.scrollLeft), 0));
});

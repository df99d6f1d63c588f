import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";
import { PAYLOAD, SUMMARY, visitPlans } from "./plans.mjs";

/** @param {import("./plans.mjs").Plans} plans @param {string[]} expected */
async function marks(plans, expected) {
  await eventually(async () => assert.deepEqual(await plans.marked("payload.json"), expected));
}

visitPlans("grounding", "the evidence of each claim is marked in the payload", async (plans) => {
  assert.equal(await plans.text("payload.json"), PAYLOAD);
  assert.equal(await plans.text("summary.json"), SUMMARY);
  await plans.says("Each claim quotes the payload");
  await plans.has(plans.claims.locator(".quote.yes"), ['"Returning visitors" with 48210 members', "31977"]);
  await plans.has(plans.claims.locator(".where"), ["/content/0/text payload.json:3:45", "/structuredContent/audiences/1/members payload.json:8:35"]);
  await marks(plans, ['yes: \\"Returning visitors\\" with 48210 members', "yes: 31977"]);

  await plans.claims.nth(1).getByRole("button", { name: "The second has 31,977 members." }).click();
  await marks(plans, ['yes: \\"Returning visitors\\" with 48210 members', "yes chosen: 31977"]);
  await plans.claims.nth(1).getByRole("button", { name: "payload.json:8:35" }).click();
  await eventually(async () => assert.equal(await plans.cursor("payload.json"), "8:35"));
  await plans.claims.nth(0).getByRole("button", { name: "summary.json" }).click();
  await eventually(async () => assert.equal(await plans.cursor("summary.json"), "3:80"));
});

visitPlans("grounding", "the same texts are marked again when they are loaded again", async (plans) => {
  const expected = ['yes: \\"Returning visitors\\" with 48210 members', "yes: 31977"];
  await marks(plans, expected);
  await plans.press("Reset");
  await plans.noticeIs("Reset to the first example");
  await plans.settled();
  await marks(plans, expected);
});

visitPlans("grounding", "a near miss has its differences, and one click quotes the payload", async (plans) => {
  await plans.example("Quotation marks of another kind");
  await plans.says("Not every claim quotes the payload");
  const claim = plans.claims.first();
  await plans.has(claim.locator(".quote"), ["“Returning visitors” with 48210 members", '“"Returning visitors”" with 48210 members']);
  await plans.has(claim.locator(".quote del"), ["“", "”"]);
  await plans.has(claim.locator(".quote ins"), ['"', '"']);
  assert.equal(await claim.locator(".quote del").first().getAttribute("title"), "only in the evidence: U+201C");
  await claim.getByText("matches the payload only without regard to characters that look alike").waitFor();
  await marks(plans, ['near: \\"Returning visitors\\" with 48210 members', "yes: Newsletter readers"]);
  await plans.root.locator(".cm-lintRange-error", { hasText: "“Returning" }).first().waitFor();

  const before = await plans.text("summary.json");
  await claim.getByRole("button", { name: "Apply" }).click();
  await plans.says("Each claim quotes the payload");
  assert.match(await plans.text("summary.json"), /"\\"Returning visitors\\" with 48210 members"/);
  await plans.notice.getByRole("button", { name: "Undo" }).click();
  await plans.says("Not every claim quotes the payload");
  assert.equal(await plans.text("summary.json"), before);
});

visitPlans("grounding", "evidence from two places links to its parts", async (plans) => {
  await plans.example("Put together from two places");
  await plans.has(plans.claims.first().locator("p", { hasText: "UNGROUNDED" }), [
    "UNGROUNDED is put together from /structuredContent/audiences/0/members and /structuredContent/audiences/0/name payload.json:7:35 payload.json:7:50",
  ]);
  assert.ok((await plans.marked("payload.json")).some((mark) => mark.startsWith("no: ")));
});

visitPlans("grounding", "each example shows its code, and typing is answered", async (plans, { page }) => {
  await plans.press("Examples");
  const group = plans.dialog.locator(".gallery").first();
  const examples = await group.locator(".example").evaluateAll((all) => all.map((each) => [each.querySelector("strong").textContent, each.querySelector(".code").textContent]));
  await page.keyboard.press("Escape");
  assert.ok(examples.length > 4);
  for (const [title, code] of examples) {
    await plans.example(title);
    await plans.says(code === "✓" ? "Each claim" : "Not every claim");
    if (code !== "✓") await plans.claims.locator("a.code", { hasText: code }).first().waitFor();
  }
  await plans.press("Reset");
  await plans.type("payload.json", "31977 members", "31978 members");
  await plans.says("Each claim quotes the payload");
  await plans.type("payload.json", "48210", "48211");
  await plans.says("Not every claim quotes the payload");
  await plans.has(plans.claims.locator(".quote ins"), ["1"]);
  await plans.paste("summary.json", "[]");
  await plans.says("No decision");
  await plans.has(plans.problems.locator(".problem p"), [/^error EMPTY_VALUE .* summary\.json:1:1$/]);
});

visitPlans("grounding", "the answer claims no more than that quotations occur", async (plans) => {
  await plans.paste("payload.json", '{"text": "The delivery was not late, it was early."}');
  await plans.paste("summary.json", '[{"claim": "The delivery was late.", "evidence": "The delivery was not late"}]');
  await plans.says(/^.Each claim quotes the payload; whether it follows is for a reader to judge$/);
  assert.doesNotMatch(await plans.decided.innerText(), /has its evidence/);
});

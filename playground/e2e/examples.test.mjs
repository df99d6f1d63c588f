import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";
import { MANIFEST } from "./hello.mjs";
import { visit } from "./visit.mjs";

visit("every example opens and shows its code", async ({ playground, page }, t) => {
  const examples = playground.dialog.locator(".example");
  await playground.press("Examples");
  const codes = await playground.texts(examples.locator(".code"));
  t.diagnostic(codes.join(" "));
  assert.ok(codes.length >= 10, `${codes.length} examples`);
  assert.deepEqual(codes.slice(0, 2), ["✓", "✓"]);
  await playground.has(playground.dialog.locator("h3"), ["Start here", "Servers say no", "Broken documents", "Policies", "An attack that is stopped", "Since the lock"]);
  const signs = await playground.texts(examples.locator(".code, .mark"));
  const isYes = (/** @type {string} */ code) => code === "✓" || code === code.toLowerCase();
  assert.deepEqual(signs, codes.flatMap((code) => (code === "✓" ? [code] : [isYes(code) ? "✓" : "✗", code])));
  const problems = codes.slice(2);
  assert.equal(new Set(problems).size, problems.length, "two examples show the same code");
  await page.keyboard.press("Escape");

  for (const [at, code] of codes.entries()) {
    await playground.press("Examples");
    await examples.nth(at).click();
    await playground.dialog.waitFor({ state: "detached" });
    await playground.noticeIs("Opened the example");
    await playground.verdict();
    if (code === "✓") {
      await playground.says("Every requirement has a server");
      const folder = at === 0 ? "desk-assistant" : "hello-agent";
      assert.match(await playground.text("agents.md"), new RegExp(`^name: ${folder}$`, "m"));
      continue;
    }
    assert.ok(await shows(playground, code), `${code} is not to be seen`);
    await playground.open("Verdict");
  }
});

visit("a newcomer is told what to do, and one click makes the answer a no", async ({ playground }) => {
  const introduction = playground.root.locator(".introduction");
  assert.match(await introduction.innerText(), /agents\.md says what the agent needs, mcp\.index\.json which servers exist/);
  // The tour is of another example.
  assert.equal(await introduction.getByRole("button", { name: "Three edits" }).count(), 0);
  await introduction.getByRole("button", { name: "Try: make it fail" }).click();
  await playground.says("Not every requirement has a server");
  await playground.notice.getByRole("button", { name: "Undo" }).click();
  await playground.says("Every requirement has a server");
  assert.equal(await playground.text("agents.md"), MANIFEST);
});

visit("an example says what it shows until it is edited, and opens the document that matters", async ({ playground }) => {
  const shown = playground.root.locator(".shown-example");
  assert.equal(await shown.count(), 0);
  await playground.example("More permissions than in the lock");
  await playground.has(shown, [/^More permissions than in the lock\. .*each widening is named\.$/]);
  assert.equal(await playground.input("agents.lock").isVisible(), true);
  await playground.open("Matrix");
  assert.equal(await shown.isVisible(), true);
  await playground.type("agents.md", "contacts", "people");
  await shown.waitFor({ state: "detached" });
});

/**
 * @param {import("./playground.mjs").Playground} playground
 * @param {string} code
 * @returns {Promise<boolean>} whether a view has the code
 */
async function shows(playground, code) {
  const tie = playground.answer.getByRole("button", { name: "How the tie was broken" });
  if (code === code.toLowerCase()) {
    await tie.first().click();
    await playground.answer.getByText(`lost: `).first().waitFor();
    return (await playground.texts(playground.answer.locator(".list li"))).some((text) => text.includes(code));
  }
  const seen = playground.answer.locator(".code", { hasText: code });
  for (const tab of ["Verdict", "agents.lock"]) {
    await playground.open(tab);
    if ((await seen.count()) > 0) return true;
  }
  await playground.open("Matrix");
  const cells = playground.answer.locator(`td button[aria-label*="${code}"]`);
  return eventually(async () => assert.ok((await cells.count()) > 0), 1_000).then(() => true, () => false);
}

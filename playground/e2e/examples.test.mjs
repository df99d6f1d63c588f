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
  assert.equal(codes[0], "✓");
  assert.equal(new Set(codes).size, codes.length, "two examples show the same code");
  await page.keyboard.press("Escape");

  for (const [at, code] of codes.entries()) {
    await playground.press("Examples");
    await examples.nth(at).click();
    await playground.dialog.waitFor({ state: "detached" });
    await playground.noticeIs("Opened the example");
    await playground.verdict();
    if (at === 0) {
      await playground.says("Every requirement has a server");
      assert.equal(await playground.text("agents.md"), MANIFEST);
      continue;
    }
    assert.ok(await shows(playground, code), `${code} is not to be seen`);
    await playground.open("Verdict");
  }
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

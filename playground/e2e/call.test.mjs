import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";
import { CALL, INDEX, visitPlans } from "./plans.mjs";

const CHECKS = ["catalogue", "lock", "labels", "read-only", "definition", "arguments"];

/** @param {import("./plans.mjs").Plans} plans @returns the checks as they are announced */
const checks = (plans) => plans.steps.locator(".chip");

visitPlans("call", "the first look shows a call that may be made, and every check of it", async (plans, { page }) => {
  assert.equal(await plans.text("call.json"), CALL);
  assert.equal(await plans.text("mcp.index.json"), INDEX);
  await plans.says("The call may be made");
  await plans.has(checks(plans), CHECKS.map((name) => `✓${name} , passed`));
  assert.equal(await plans.detail.count(), 0);

  await plans.check("read-only").click();
  await plans.has(plans.detail.locator("li"), ["The tool only reads, by its capabilities and its annotations.", "read:x-audiences + readonly mcp.index.json:13:29"]);
  await eventually(async () => assert.match((await plans.marked("mcp.index.json")).join("\n"), /^: \{\n/));
  await plans.detail.getByRole("button", { name: "mcp.index.json:13:29" }).click();
  await eventually(async () => assert.equal(await plans.cursor("mcp.index.json"), "13:29"));
  // Another check, and none.
  await plans.check("arguments").click();
  await plans.has(plans.detail.locator("li"), ["The input schema accepts the arguments, and the output schema can be used.", '{ "limit": 2 } call.json:5:11']);
  await plans.check("arguments").click();
  await plans.detail.waitFor({ state: "detached" });

  await page.getByText("Authorised plan").click();
  const shown = plans.root.locator(".viewer .cm-content");
  await eventually(async () => assert.match(await shown.innerText(), /"verdict": "allow"/));
  await page.getByText("Documents of this decision").click();
  await plans.has(plans.root.locator(".against-list tr"), [/^lock sha256-/, /^entry of the index sha256-/, /^definition of the tool sha256-/]);
});

visitPlans("call", "the policy that the lock names decides on the arguments", async (plans) => {
  await plans.example("More than a policy allows");
  await plans.says("The call may not be made");
  await plans.root.getByText("a call reads at most 10 audiences").first().waitFor();
  await plans.type("call.json", "50", "10");
  await plans.says("The call may be made");

  await plans.example("Without the policy of the lock");
  await plans.says("The call may not be made");
  await plans.root.locator(".code", { hasText: "POLICY_MISSING" }).first().waitFor();
});

visitPlans("call", "one click corrects a misspelt tool, and can be undone", async (plans) => {
  await plans.example("A tool that is misspelt");
  await plans.says("The call may not be made");
  await plans.has(checks(plans), ["✗catalogue , failed", ...CHECKS.slice(1).map((name) => `–${name} , skipped`)]);
  await plans.has(plans.detail.locator(".against > p"), ["TOOL_UNKNOWN the server acme-audiences has no tool list_audience: no such tool call.json:4:11", "at /tool by the catalogue lists the tool under this name"]);
  await plans.root.locator(".cm-lintRange-error", { hasText: "list_audience" }).first().waitFor();
  const before = await plans.text("call.json");
  await plans.detail.locator(".fix", { hasText: "Call the tool list_audiences" }).getByRole("button", { name: "Apply" }).click();
  await plans.noticeIs("Applied: call the tool list_audiences");
  await plans.says("The call may be made");
  assert.equal(await plans.text("call.json"), CALL);
  await plans.notice.getByRole("button", { name: "Undo" }).click();
  await plans.says("The call may not be made");
  assert.equal(await plans.text("call.json"), before);
});

visitPlans("call", "every suggested fix removes its problem", async (plans) => {
  await plans.paste("call.json", CALL.replace('"limit": 2', '"limt": 2, "ofset": 1'));
  await plans.says("The call may not be made");
  const against = plans.detail.locator(".against");
  assert.equal(await against.count(), 2);
  const count = await against.locator(".apply").count();
  assert.equal(count, 3);
  for (let at = 0; at < count; at++) {
    await against.locator(".apply").nth(at).click();
    await eventually(async () => assert.equal(await against.count(), 1));
    await plans.notice.getByRole("button", { name: "Undo" }).click();
    await eventually(async () => assert.equal(await against.count(), 2));
  }
});

visitPlans("call", "a given catalogue decides", async (plans) => {
  await plans.example("A tool that was changed since");
  await plans.says("The call may not be made");
  await plans.has(plans.detail.locator(".against > p"), [/^DEFINITION_CHANGED .* was locked with the definition sha256-/, /^at \/tool by /]);
  await plans.paste("catalogue.json", "");
  await plans.says("The call may be made");
  await plans.paste("catalogue.json", "{");
  await plans.says("No decision: an input has errors");
  await plans.has(plans.problems.locator(".problem p"), [/^error JSON_SYNTAX .* catalogue\.json:1:2$/]);
});

visitPlans("call", "each example shows its code", async (plans, { page }, t) => {
  await plans.press("Examples");
  const group = plans.dialog.locator(".gallery").first();
  const examples = await group.locator(".example").evaluateAll((all) => all.map((each) => [each.querySelector("strong").textContent, each.querySelector(".code").textContent]));
  await page.keyboard.press("Escape");
  t.diagnostic(`${examples.length} examples`);
  assert.ok(examples.length > 6);
  for (const [title, code] of examples) {
    await plans.example(title);
    if (code === "✓") await plans.says(/The call may be made|needs more information/);
    else {
      await plans.says(/The call may not be made|No decision/);
      await plans.root.locator("a.code", { hasText: code }).or(plans.root.locator(".chip.no")).first().waitFor();
      const chips = plans.root.locator(".chip.no");
      const found = async () => (await plans.root.locator("a.code").allInnerTexts()).includes(code);
      for (let at = 0; !(await found()) && at < (await chips.count()); at++) await chips.nth(at).click();
      assert.ok(await found(), `${title}: no ${code}`);
    }
  }
});

visitPlans("call", "a check is opened by the keyboard alone", async (plans, { page }) => {
  await plans.example("A tool that writes, and is forbidden");
  await plans.says("The call may not be made");
  await plans.check("labels").focus();
  await page.keyboard.press("Enter");
  await plans.has(plans.detail.locator(".against > p"), [/^FORBIDDEN_ACTION/, /^at \/tool by /]);
  assert.equal(await plans.check("labels").getAttribute("aria-expanded"), "true");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  assert.notEqual(await page.evaluate(() => document.activeElement.localName), "body");
});

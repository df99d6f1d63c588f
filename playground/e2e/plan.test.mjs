import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";
import { PLAN, POOL, PROFILE, visitPlans } from "./plans.mjs";

/** @param {import("./plans.mjs").Plans} plans @param {number} step @returns the checks of a step as they are announced */
const chips = (plans, step) => plans.steps.nth(step).locator(".chip");

visitPlans("plans", "the first look shows two steps that may run, with every check", async (plans, { page }) => {
  assert.equal(await plans.text("plan.json"), PLAN);
  assert.equal(await plans.text("tool-pool.json"), POOL);
  await plans.show("profile.json");
  assert.equal(await plans.text("profile.json"), PROFILE);
  await plans.says("The plan may run");
  await page.getByText("largest-audiences · 2 steps · 3 deferred checks").waitFor();
  await plans.has(plans.steps.locator("h3"), [/list$/, /keep$/]);
  await plans.has(chips(plans, 0), [
    ...["pool", "rules", "lock", "destination", "limits", "input"].map((name) => `✓${name} , passed`),
    "◔output , deferred",
  ]);
  await plans.has(chips(plans, 1), [
    ...["pool", "rules", "limits"].map((name) => `✓${name} , passed`),
    ...["input", "output"].map((name) => `◔${name} , deferred`),
  ]);
  await plans.has(plans.steps.nth(1).locator(".given"), ["takes /audiences of list, step 1 plan.json:28:23"]);

  await plans.check("limits").click();
  await plans.has(plans.detail.locator("li"), [
    "timeout_ms is 5000, of at most 10000 tool-pool.json:33:33",
    "max_input_bytes is 4096, of at most 65536 tool-pool.json:33:58",
    "max_output_bytes is 65536, of at most 262144 tool-pool.json:33:84",
    "max_log_bytes is 4096, of at most 16384 tool-pool.json:33:108",
  ]);
  // The document of the values comes to the front, with the values marked.
  await plans.input("tool-pool.json").waitFor();
  await eventually(async () => assert.deepEqual(await plans.marked("tool-pool.json"), [": 5000", ": 4096", ": 65536", ": 4096"]));
  await plans.check("rules").click();
  await plans.has(plans.detail.locator("li"), ["the rule read-audiences allows the tool profile.json:16:5"]);
  await plans.input("profile.json").waitFor();

  await page.getByText("Validation report").click();
  await eventually(async () => assert.match(await plans.root.locator(".viewer .cm-content").nth(1).innerText(), /"check": "addresses"/));
});

visitPlans("plans", "each example shows its code, and its fixes lead to a yes and can be undone", async (plans, { page }, t) => {
  await plans.press("Examples");
  const group = plans.dialog.locator(".gallery").first();
  const examples = await group.locator(".example").evaluateAll((all) => all.map((each) => [each.querySelector("strong").textContent, each.querySelector(".code").textContent]));
  await page.keyboard.press("Escape");
  t.diagnostic(`${examples.length} examples`);
  assert.ok(examples.length > 10);
  for (const [title, code] of examples) {
    await plans.example(title);
    if (code === "✓") {
      await plans.says("The plan may run");
      continue;
    }
    await plans.says("The plan may not run");
    const against = plans.root.locator(".against");
    await against.first().waitFor();
    assert.match((await against.allInnerTexts()).join("\n"), new RegExp(`\\b${code}\\b`), title);
    if (code === "LOCK_MISSING") {
      assert.equal(await plans.root.locator(".apply").count(), 0);
      continue;
    }
    // One change after the other.
    let applied = 0;
    for (; applied < 6 && (await plans.root.locator(".apply").count()) > 0; applied++) {
      await plans.root.locator(".apply").first().click();
      await plans.noticeIs("Applied");
      await plans.settled();
    }
    await plans.says("The plan may run");
    if (applied === 1) {
      await plans.notice.getByRole("button", { name: "Undo" }).click();
      await plans.says("The plan may not run");
    }
  }
});

visitPlans("plans", "the problems of an example are in sight, and typing does not scroll", async (plans) => {
  await plans.example("Longer than the cap");
  await plans.says("The plan may not run");
  await plans.input("tool-pool.json").waitFor();
  const inSight = () => plans.input("tool-pool.json").locator(".cm-place-no").first().evaluate((mark) => {
    const box = mark.getBoundingClientRect();
    const around = mark.closest(".cm-scroller").getBoundingClientRect();
    return box.top >= around.top && box.bottom <= around.bottom;
  });
  await eventually(async () => assert.equal(await inSight(), true));
  await plans.type("profile.json", "2000", "20000");
  await plans.says("The plan may run");
  await plans.type("profile.json", "20000", "2");
  await plans.says("The plan may not run");
  assert.equal(await plans.input("profile.json").isVisible(), true);
});

visitPlans("plans", "an unreadable document is reported beside the problems of the others", async (plans) => {
  await plans.paste("tool-pool.json", POOL.replace("{", ""));
  await plans.says("The plan may not run");
  await plans.has(plans.root.locator(".documents .against > p:first-child"), [/^validation_failed JSON_SYNTAX .* tool-pool\.json:/]);
  await plans.has(chips(plans, 1), ["–pool , skipped", "✓rules , passed", "–limits , skipped", "–input , skipped", "–output , skipped"]);
  await plans.paste("tool-pool.json", POOL);
  await plans.says("The plan may run");
  await plans.paste("plan.json", "Sure!");
  await plans.says("The plan may not run");
  assert.equal(await plans.steps.count(), 0);
  await plans.root.locator(".cm-lintRange-error").first().waitFor();
  await plans.paste("plan.json", PLAN);
  await plans.paste("agents.lock", "{");
  await plans.says("No decision: an input has errors");
  await plans.has(plans.problems.locator(".problem p"), [/^error JSON_SYNTAX .* agents\.lock:1:2$/]);
});

visitPlans("plans", "a document in the wrong place is exchanged, and no option of the command line is named", async (plans) => {
  await plans.paste("plan.json", POOL);
  await plans.says("The plan may not run");
  const problem = plans.root.locator(".against", { hasText: "It belongs in tool-pool.json" }).first();
  await problem.waitFor();
  assert.doesNotMatch(await problem.innerText(), /--/);
  await plans.paste("tool-pool.json", PLAN);
  await plans.root.getByRole("button", { name: "Exchange with plan.json" }).waitFor();
  await plans.root.getByRole("button", { name: "Exchange with tool-pool.json" }).click();
  await plans.says("The plan may run");
});

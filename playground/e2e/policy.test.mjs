// Policies, and the second module, which evaluates them.

import assert from "node:assert/strict";
import axe from "axe-core";
import { violations } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { PHONE, fits } from "./fits.mjs";
import { visit } from "./visit.mjs";

const EXAMPLE = "A policy in Rego";

/** @param {import("playwright-core").Page} page @returns the files of the second module that are loaded from now on */
function loads(page) {
  /** @type {string[]} */
  const loaded = [];
  page.context().on("request", (request) => {
    if (request.url().includes("/engine/policy/")) loaded.push(request.url().split("/").at(-1) ?? "");
  });
  return loaded;
}

visit("the module that evaluates policies is loaded with the first policy, and stays", async ({ playground, page }) => {
  const loaded = loads(page);
  await playground.example("Tools for a task");
  await playground.says("Not every requirement has a server or a tool");
  assert.deepEqual(loaded, []);

  await playground.example(EXAMPLE);
  await playground.answer.getByText("POLICY_DENIED").first().waitFor();
  assert.deepEqual([...loaded].sort(), ["agent-engine.js", "agent-engine_bg.wasm", "worker.js"]);
  await playground.paste("policy.rego", "");
  await playground.says("Every requirement has a server or a tool");
  await playground.type("tenant.yaml", "500", "501");
  await playground.answer.getByText(/of 501/).waitFor();
  assert.equal(loaded.length, 3);
});

visit("the page reports that it loads the second module", async ({ playground, page }) => {
  /** @type {() => void} */
  let release = () => {};
  const held = new Promise((resolve) => (release = () => resolve(undefined)));
  await page.context().route("**/engine/policy/*.wasm", async (route) => {
    await held;
    await route.continue();
  });
  await playground.show("policy.rego");
  await playground.paste("policy.rego", "package switchboard\n\nallowed_tools := set()\n");
  await playground.answer.getByText("Loading the larger engine").waitFor();
  await playground.answer.getByText("Below, in grey, is the answer to earlier inputs").waitFor();
  assert.equal(await page.locator("#answer-panel").getAttribute("aria-busy"), "true");
  release();
  await playground.verdict();
  assert.equal(await playground.answer.getByText("Loading the larger engine").count(), 0);
});

visit("without the second module, inputs with a policy are undecided", async ({ playground, page }) => {
  await page.context().route("**/engine/policy/**", (route) => route.abort());
  await playground.paste("policy.rego", "package switchboard\n");
  await playground.answer.getByRole("alert").getByText("the policy evaluator can't be loaded").waitFor();
  await playground.paste("policy.rego", "");
  await playground.says("Every requirement has a server");
  assert.equal(await playground.answer.getByRole("alert").count(), 0);
}, { expected: [/ERR_FAILED/, /^error: /] });

visit("a denial has the policy's own reason, and points into the policy", async ({ playground, page }) => {
  await playground.example(EXAMPLE);
  const card = playground.card("search:internet");
  await card.getByText("is denied by the policy: tools of the class paid are for the tier gold").first().waitFor();
  await card.getByRole("button", { name: "policy.rego:9:1" }).click();
  await eventually(async () => assert.equal(await playground.cursor("policy.rego"), "9:1"));

  await card.locator(".nearest .server").first().click();
  const check = playground.explanation.locator(".checks tbody tr", { hasText: /policy\s*, failed/ });
  await check.getByRole("button", { name: "policy.rego:9:1" }).waitFor();
  await playground.show("policy.rego");
  await eventually(async () => {
    const marked = await playground.texts(page.locator(".input.lower .cm-place"));
    assert.ok(marked.some((text) => text.includes("too_expensive(tool)")), JSON.stringify(marked));
  });

  await playground.type("tenant.yaml", "silver", "gold");
  await playground.says("Every requirement has a server or a tool");
});

visit("a policy that does not compile, or fails, is a problem at its place", async ({ playground }) => {
  await playground.example(EXAMPLE);
  await playground.type("policy.rego", "some tool in input.candidate_tools", "some tool in inputs.candidate_tools");
  await playground.says("No decision");
  await playground.problems.getByRole("button", { name: /^policy\.rego:5:/ }).first().waitFor();

  await playground.paste("policy.rego", 'package switchboard\n\nallowed_tools := "all"\n');
  await playground.problems.getByText("POLICY_ERROR").first().waitFor();
  await playground.problems.getByRole("button", { name: /^policy\.rego:/ }).first().waitFor();
  await playground.card("search:internet").locator(".policy-decision").getByText("The policy gave no answer").waitFor();
});

visit("the policy reads the context as input.context", async ({ playground }) => {
  await playground.example(EXAMPLE);
  await playground.paste(
    "policy.rego",
    "package switchboard\n\nallowed_tools contains tool.id if {\n  input.context.hour >= 17\n  some tool in input.candidate_tools\n}\n",
  );
  await playground.says("Not every requirement has a server or a tool");
  await playground.paste("context.yaml", "hour: 18\n");
  await playground.says("Every requirement has a server or a tool");
  await playground.paste("context.yaml", "hour: [\n");
  await playground.problems.getByRole("button", { name: /^context\.yaml:/ }).first().waitFor();
});

visit("the tab of the policy shows its input, the value of each rule and the lines that took part", async ({ playground, page }) => {
  await playground.open("Policy");
  await playground.answer.getByText("No policy is given").waitFor();
  await playground.example(EXAMPLE);
  await playground.open("Policy");
  const rules = playground.answer.locator("table").first().locator("tbody tr");
  await playground.has(rules, [/^allowed_tools policy\.rego:4:1 \[\]$/, /^deny_reasons policy\.rego:9:1 \{ .*tools of the class paid/]);
  await playground.answer.locator("p", { hasText: "Rules with a body that held" }).getByRole("button").first().waitFor();
  const input = page.getByRole("textbox", { name: "input of the policy" });
  await input.getByText('"user_tier": "silver"').waitFor();
  await playground.show("policy.rego");
  await eventually(async () => assert.ok((await page.locator(".input.lower .cm-place").count()) > 3));

  await playground.type("tenant.yaml", "silver", "gold");
  await playground.has(rules, [/^allowed_tools policy\.rego:4:1 \[ "/, /^deny_reasons .* \{\}$/]);
  await input.getByText('"user_tier": "gold"').waitFor();
  await playground.paste("policy.rego", "package switchboard\n\nallowed_tools := {1 / 0}\n\nlimit := 3 if input.phase == 1\n");
  await playground.has(rules, [/^allowed_tools .*zero/, /^limit policy\.rego:5:1 undefined$/]);
});

visit("each rule has its part in the decision, and each evaluation the rule that decided", async ({ playground }) => {
  await playground.example(EXAMPLE);
  await playground.open("Policy");
  const table = (/** @type {string | RegExp} */ title) => playground.answer.locator("h3", { hasText: title }).locator("+ table tbody tr");
  const coverage = table(/^Coverage: \d+ pairs/);
  const evaluations = table(/^Evaluations/);
  await playground.has(coverage, [/^allowed_tools policy\.rego:4:1 1$/, /^deny_reasons policy\.rego:9:1 2$/, /^too_expensive policy\.rego:14:1 2$/]);
  const denied = /^search:internet .+ ✗ denied: tools of the class paid are for the tier gold deny_reasons policy\.rego:9:1$/;
  const allowed = /✓ allowed allowed_tools policy\.rego:4:1$/;
  await playground.has(evaluations, [denied, denied, allowed]);
  await playground.type("tenant.yaml", "silver", "gold");
  await playground.has(coverage, [/ 3$/, / never$/, / never$/]);
  await playground.has(evaluations, [allowed, allowed, allowed]);
  await coverage.first().getByRole("button", { name: "policy.rego:4:1" }).click();
  await eventually(async () => assert.equal(await playground.cursor("policy.rego"), "4:1"));
});

visit("one value of the input is tried, beside the values as they are", async ({ playground }) => {
  await playground.example(EXAMPLE);
  await playground.open("Policy");
  const rules = playground.answer.locator("table").first().locator("tr");
  const tried = playground.answer.getByRole("combobox", { name: "try" });
  await tried.waitFor();
  const proposed = await playground.answer.locator("datalist option").evaluateAll((all) => all.map((option) => option.getAttribute("value")));
  assert.ok(proposed.includes("/user_tier silver"), proposed.join("\n"));
  await playground.has(rules, ["Rule Value", /./, /./]);
  await tried.fill("/user_tier silver");
  await playground.has(rules, ["Rule Value Tried", / the same$/, / the same$/]);
  await tried.fill("/user_tier gold");
  await playground.has(rules, [/./, /^allowed_tools policy\.rego:4:1 \[\] \[ "/, /^deny_reasons .*paid.* \{\}$/]);
  // Enter sends no form, and the decision stays that of the documents.
  await tried.press("Enter");
  assert.equal(await tried.inputValue(), "/user_tier gold");
  assert.match(await playground.text("tenant.yaml"), /silver/);
  await tried.fill("/user_tiers gold");
  await playground.answer.getByRole("heading", { name: "the input has no such value" }).waitFor();
});

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  visit(`the tab of the policy fits a phone, and axe finds nothing (${colorScheme})`, async ({ playground, page }) => {
    await playground.example(EXAMPLE);
    await playground.open("Policy");
    await playground.answer.getByRole("combobox", { name: "try" }).fill("/user_tier gold");
    await playground.answer.getByText("Tried").waitFor();
    await fits(page, "the policy at work");
    await page.evaluate(axe.source);
    assert.deepEqual(await violations(page), []);
  }, { browser: { ...PHONE, viewport: { width: 320, height: 640 }, colorScheme } });
}

visit("an empty policy starts with a small one, which can be undone", async ({ playground }) => {
  await playground.example("Tools for a task");
  await playground.show("policy.rego");
  await playground.page.getByRole("button", { name: "Start with a small policy" }).click();
  await playground.open("Policy");
  await playground.has(playground.answer.locator("table").first().locator("tbody th"), [/^allowed_tools/, /^deny_reasons/]);
  assert.equal(await playground.page.getByRole("button", { name: "Start with a small policy" }).count(), 0);
  await playground.input("policy.rego").press("Control+z");
  await playground.answer.getByText("No policy is given").waitFor();
});

// A run of a plan, stepped through by hand.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import axe from "axe-core";
import { eventually } from "./eventually.mjs";
import { PLAN, visitPlans } from "./plans.mjs";
import { Run } from "./run.mjs";

/** @import { Plans } from "./plans.mjs" */

/** The plan over HTTP of the examples. */
const OVER_HTTP = "Over HTTP, without a lock";

/**
 * A visit that begins a run of an example.
 * @param {string} name
 * @param {string} example of a plan, or else the first
 * @param {(run: Run, plans: Plans, visit: import("./browser.mjs").Visit) => Promise<void>} body
 */
function visitRun(name, example, body) {
  visitPlans("plans", name, async (plans, visit) => {
    if (example) await plans.example(example);
    await plans.says("The plan may run");
    const run = new Run(plans);
    await run.begin();
    await body(run, plans, visit);
  });
}

visitPlans("plans", "the module of runs is loaded when the first run begins", async (plans, { page }) => {
  const loaded = () => page.evaluate(() => performance.getEntriesByType("resource").filter(({ name }) => name.includes("/engine/run/")).length);
  await plans.says("The plan may run");
  assert.equal(await loaded(), 0);
  const run = new Run(plans);
  await run.begin();
  assert.ok((await loaded()) > 0);
  // It answers everything else, too.
  await plans.type("plan.json", '"limit": 2', '"limit": 2000');
  await plans.says("The plan may not run");
});

visitRun("the steps of a run survive a reload", OVER_HTTP, async (run, plans, { page }) => {
  await run.answer("It asks for the request of its input");
  await run.says("Resolve the host reports.example");
  await eventually(async () => assert.ok(await page.evaluate(() => Object.values(localStorage).some((kept) => kept.includes('"run"')))));
  await page.reload();
  await run.says("Resolve the host reports.example");
});

visitRun("a plan over HTTP is answered to its end, and its evidence is there", OVER_HTTP, async (run, plans, { page }) => {
  await run.says("Call the handler http");
  await run.area.getByText('"https://reports.example/2026/01.json"').first().waitFor();
  await run.answer("It asks for the request of its input");
  await run.says("Resolve the host reports.example");
  await run.answer("A public address");
  await run.says("Request GET /2026/01.json");
  await run.area.getByText("to 93.184.215.14, port 443, with TLS").waitFor();
  await run.choose("200 with JSON that fits");
  await run.area.getByLabel("body", { exact: true }).fill('{"visits": 41}');
  await run.press("Next");
  await run.says("Give the handler the response");
  await run.answer("It returns that");
  assert.deepEqual(await run.parts("report"), [
    "✓ passed: 5a resolve the input",
    "✓ passed: 5b validate the input",
    "✓ passed: 5c check policy, approval and limits",
    "✓ passed: 5d choose the handler",
    "✓ passed: 5e execute",
    "✓ passed: 5f validate the output",
    "✓ passed: 5g write the log",
    "✓ passed: 5h record the step",
  ]);
  await run.says("Call the handler noop");
  const wanted = run.area.locator(".wanted dd");
  assert.ok((await wanted.allInnerTexts()).includes("41"), "the next step has the output of the first");
  await run.answer("It returns its input");
  await run.says("The run is completed");
  await run.area.getByText("every step of the plan is completed").first().waitFor();
  await run.area.getByText(/ · head of the chain /).waitFor();
  await run.area.getByRole("button", { name: "run_summary.json" }).click();
  await run.area.locator(".viewer .cm-content").filter({ hasText: '"status": "completed"' }).waitFor();
  // Back, and to another end.
  await run.press("Back");
  await run.says("Call the handler noop");
  await run.answer("It returns text that is not JSON");
  await run.says("The run is failed");
  await run.area.getByText("output_invalid").first().waitFor();
  await run.press("Restart");
  await run.says("Call the handler http");
  assert.equal(await run.past.count(), 0);
});

visitRun("all by example: each kind of step comes to its end", "", async (run, plans) => {
  await run.press("Answer all by example");
  await run.says("The run is completed");
  await plans.has(run.past, [/^call the handler mcp_proxy/, /^resolve the host mcp.acme.example/, /^connect to the server acme-audiences/, /^list the tools/, /^call the tool list_audiences/, /^give the handler/, /^call the handler noop/]);
  const names = await run.plans.texts(run.files);
  assert.ok(names.some((name) => name.startsWith("logs/list.log")), names.join());
  // A person goes on from there.
  await run.press("Back");
  await run.says("Call the handler noop");
});

visitRun("a private address ends the run, and evidence is completed", OVER_HTTP, async (run) => {
  await run.answer("It asks for the request of its input", "A private address");
  await run.says("The run is failed");
  await run.endsWith("destination_denied");
  const parts = await run.parts("report");
  assert.equal(parts[4], "✗ failed: 5e execute destination_denied");
  assert.deepEqual(parts.slice(5), ["– skipped: 5f validate the output", "✓ passed: 5g write the log", "✓ passed: 5h record the step"]);
  assert.ok((await run.parts("visits")).every((part) => part.startsWith("– skipped: ")));
});

visitRun("a cancelled run completes its evidence", OVER_HTTP, async (run) => {
  await run.answer("It asks for the request of its input");
  await run.press("Cancel the run");
  await run.says("The run is cancelled");
  await run.area.getByText("the run was cancelled").first().waitFor();
  await run.area.getByText(", complete").waitFor();
});

visitPlans("plans", "a step without an approval ends the run", async (plans) => {
  const given = (/** @type {string} */ file) => readFileSync(new URL(`../../tests/corpus/plan/${file}`, import.meta.url), "utf8");
  await plans.paste("plan.json", given("accept/a-tool-that-a-person-has-to-approve/plan.json"));
  await plans.paste("tool-pool.json", given("base/tool-pool.json"));
  await plans.paste("profile.json", given("base/profile.json"));
  await plans.paste("request.json", "");
  await plans.paste("agents.lock", given("base/agents.lock"));
  await plans.paste("mcp.index.json", given("base/mcp.index.json"));
  await plans.says("The plan may run");
  const run = new Run(plans);
  await run.begin();
  await run.says(/Ask for approval of the step/);
  await run.area.getByText("what is approved").waitFor();
  await run.answer("Refuse");
  await run.says("The run is failed");
  await run.area.locator(".ended").getByText("needs the approval of sha256-").first().waitFor();
  await run.press("Back");
  await run.answer("Approve");
  await run.says("Call the handler mcp_proxy");
});

visitRun("a wrong field is refused with what is wrong, and a duration above the limit is a timeout", OVER_HTTP, async (run) => {
  await run.answer("It asks for the request of its input", "A public address");
  await run.area.getByLabel("status", { exact: true }).fill("2OO");
  await run.press("Next");
  await run.area.getByRole("alert").filter({ hasText: "the status must be a whole number in its range; 2OO is not one" }).waitFor();
  await run.says("Request GET /2026/01.json");
  await run.choose("404");
  await run.area.getByLabel("it took, in ms").fill("6000");
  await run.press("Next");
  await run.says("The run is failed");
  await run.endsWith("timeout");
});

visitPlans("plans", "a denied plan has a run, which records the denial", async (plans) => {
  await plans.example("Longer than the cap");
  await plans.says("The plan may not run");
  const run = new Run(plans);
  await run.begin();
  await run.says("The run is failed");
  await run.endsWith("limit_exceeded");
  await run.area.getByRole("button", { name: "validation_report.json" }).waitFor();
});

visitRun("an edited document runs again with the same answers", OVER_HTTP, async (run, plans) => {
  await run.answer("It asks for the request of its input", "A public address");
  await plans.type("plan.json", "2026/01.json", "2026/02.json");
  await run.says("Request GET /2026/01.json");
  await plans.paste("plan.json", (await plans.text("plan.json")).replace('"get-report"', '"keep"').replace("connector_core:http_generic", "connector_core:noop"));
  await run.says("The run is failed");
  await run.area.locator(".ended").getByText("no output of the step report has a value").first().waitFor();
  assert.equal(await run.past.count(), 0);
  await plans.example(OVER_HTTP);
  await run.area.getByRole("button", { name: "Step through a run" }).waitFor();
});

visitRun("a link holds a run", OVER_HTTP, async (run, plans, { another }) => {
  await run.answer("It asks for the request of its input", "A private address");
  const head = await run.area.locator(".evidence code").first().innerText();
  await plans.press("Share");
  const link = await plans.dialog.getByLabel("Link").inputValue();
  const other = await another({ fragment: link.split("#")[1], wait: false });
  const area = other.page.getByRole("region", { name: "Run", exact: true });
  await area.getByRole("status").filter({ hasText: "The run is failed" }).waitFor();
  assert.equal(await area.locator(".evidence code").first().innerText(), head);
});

visitPlans("plans", "characters that can't be seen are shown as code points", async (plans) => {
  await plans.paste("plan.json", PLAN.replace('"limit": 2', '"limit": 2, "note": "a\u200bb\u202ec"').replace(/"connector_id": "connector_acme:audiences",\s*"tool_id": "list"/, '"connector_id": "connector_core:noop", "tool_id": "keep"').replace('"/audiences"', '"/note"'));
  await plans.says("The plan may run");
  const run = new Run(plans);
  await run.begin();
  await run.area.locator(".wanted dd").filter({ hasText: "a<U+200B>b<U+202E>c" }).waitFor();
  await run.answer("It returns its input");
  await run.past.filter({ hasText: "a<U+200B>b<U+202E>c" }).waitFor();
});

visitRun("a run is stepped through with the keyboard alone", OVER_HTTP, async (run, plans, { page }) => {
  await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement?.id), "run"));
  await run.area.getByLabel("method", { exact: true }).focus();
  await page.keyboard.press("Enter");
  await run.says("Resolve the host reports.example");
  await run.area.getByRole("button", { name: "Next" }).focus();
  await page.keyboard.press("Enter");
  await run.says("Request GET /2026/01.json");
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Next");
});

for (const [name, viewport] of /** @type {const} */ ([["wide", { width: 1280, height: 860 }], ["narrow", { width: 360, height: 740 }]])) {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    visitPlans("plans", `${name}, ${colorScheme}: axe finds no serious violation in a run, and nothing is wider than the page`, async (plans, { page }) => {
      await plans.example(OVER_HTTP);
      const run = new Run(plans);
      await run.begin();
      await page.evaluate(axe.source);
      const check = async (/** @type {string} */ state) => {
        const { violations } = await page.evaluate(() => window.axe.run(document.querySelector(".run"), { resultTypes: ["violations"] }));
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        assert.deepEqual(serious.map(({ id, nodes }) => `${state}: ${id} ${nodes.map((node) => node.target)}`), []);
        const wider = await run.area.evaluate((area) => area.scrollWidth - area.clientWidth);
        assert.ok(wider <= 0, `${state}: ${wider} px too wide`);
      };
      await check("an action");
      await run.answer("It asks for the request of its input", "A private address");
      await run.says("The run is failed");
      await run.area.getByRole("button", { name: "run_summary.json" }).click();
      await run.area.locator(".viewer .cm-line").first().waitFor();
      await check("the end");
    }, { browser: { colorScheme, viewport } });
  }
}

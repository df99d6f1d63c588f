import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";
import { MANIFEST } from "./hello.mjs";
import { PLAN, visitPlans } from "./plans.mjs";
import { stored, visit } from "./visit.mjs";

/** @import { Inputs } from "./inputs.mjs" */

/** Keys that follow the list too soon are no choice. */
const CHOICE_MS = 200;

/**
 * @param {Inputs} inputs
 * @param {string} label that is to be offered
 */
async function choose(inputs, label) {
  const list = inputs.page.locator(".cm-tooltip-autocomplete");
  const option = list.locator(".cm-completionLabel").getByText(label, { exact: true });
  await option.waitFor();
  await inputs.page.waitForTimeout(CHOICE_MS);
  for (let step = 0; (await list.locator("[aria-selected] .cm-completionLabel").innerText()) !== label; step++) {
    assert.ok(step < 50, `${label} can't be chosen`);
    await inputs.page.keyboard.press("ArrowDown");
  }
  await inputs.page.keyboard.press("Enter");
  // The list of the values of a chosen key follows at once.
  await option.waitFor({ state: "detached" });
}

visit("completion writes a key and a closed value of the manifest", async ({ playground, page }) => {
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname.split("/").at(-1)));
  assert.ok(!asked.includes("completion.js"));
  await playground.type("agents.md", "residency: us-only", "");
  await page.keyboard.press("Control+Space");
  await choose(playground, "residency");
  assert.ok(asked.includes("completion.js"), asked.join());
  // The values of a key follow by themselves.
  await choose(playground, "eu-only");
  assert.ok((await playground.text("agents.md")).includes("    sensitivity: internal\n    residency: eu-only"));
  await playground.card("audiences").getByText("beta-audiences").first().waitFor();
});

visit("completion opens while a key of the index is typed, and Escape closes it", async ({ playground, page }) => {
  const module = page.waitForResponse(/completion\.js$/);
  await playground.input("mcp.index.json").focus();
  await module;
  await playground.type("mcp.index.json", '"trust": { "signed": true, "publisher": "Acme, Inc." }', '"tru');
  const list = page.locator(".cm-tooltip-autocomplete");
  await list.waitFor();
  await page.keyboard.press("Escape");
  await list.waitFor({ state: "detached" });
  await page.keyboard.press("Control+Space");
  await choose(playground, "trust");
  await choose(playground, "signed");
  await choose(playground, "true");
  assert.ok((await playground.text("mcp.index.json")).includes('"trust": {"signed": true}'), await playground.text("mcp.index.json"));
});

visit("completion closes when the only word that it offers is typed", async ({ playground, page }) => {
  const module = page.waitForResponse(/completion\.js$/);
  await playground.input("agents.md").focus();
  await module;
  await playground.type("agents.md", "residency: us-only", "residenc");
  const options = page.locator(".cm-tooltip-autocomplete .cm-completionLabel");
  await eventually(async () => assert.deepEqual(await options.allInnerTexts(), ["residency"]));
  await page.keyboard.type("y");
  await page.locator(".cm-tooltip-autocomplete").waitFor({ state: "detached" });
  await page.keyboard.type(": eu-only");
  assert.ok((await playground.text("agents.md")).includes("residency: eu-only"));
});

visit("completion works without a network, after the first visit", async ({ playground, page, stopServer }) => {
  await stored(page);
  await stopServer();
  await page.reload();
  await playground.verdict();
  await playground.type("agents.md", "internal", "p");
  await page.keyboard.press("Control+Space");
  await choose(playground, "public");
  assert.ok((await playground.text("agents.md")).includes("sensitivity: public\n"));
}, {
  browser: { serviceWorkers: "allow" },
  expected: [/^console: Failed to load resource: net::ERR_CONNECTION_REFUSED$/],
});

visit("completion offers the categories and scopes of the pasted index", async ({ playground, page }) => {
  await playground.type("mcp.index.json", '"export:reports"', '"print:reports"');
  await playground.type("agents.md", "read:reports", "");
  await page.keyboard.press("Control+Space");
  await choose(playground, "print:reports");
  assert.ok((await playground.text("agents.md")).includes("        - print:reports\n"));
  await playground.type("agents.md", "y: audiences", "y: ");
  await page.keyboard.press("Control+Space");
  await choose(playground, "charts");
  assert.ok((await playground.text("agents.md")).includes("- category: charts\n"));
});

visitPlans("plans", "completion offers tools, earlier steps and pointers into their outputs", async (plans, { page }) => {
  const broken = PLAN.replace('"tool_id": "keep"', '"tool_id": ').replace('{ "step": "list", "pointer": "/audiences" }', '{ "step": , "pointer":  }');
  await plans.paste("plan.json", broken);
  await plans.type("plan.json", '"tool_id": ,', '"tool_id": ');
  for (const [before, label] of [['"tool_id": ', "keep"], ['"step": ', "list"], ['"pointer": ', "/audiences/0/id"]]) {
    const at = (await plans.text("plan.json")).lastIndexOf(before) + before.length;
    await plans.input("plan.json").evaluate((content, anchor) => content.cmTile.root.view.dispatch({ selection: { anchor } }), at);
    await page.keyboard.press("Control+Space");
    await choose(plans, label);
  }
  const { plan } = JSON.parse(await plans.text("plan.json"));
  assert.equal(plan.steps[1].tool_id, "keep");
  assert.deepEqual(plan.steps[1].input_from, { step: "list", pointer: "/audiences/0/id" });
  await plans.says("The plan may run");
});

visit("hover explains a key", async ({ playground, page }) => {
  const key = playground.input("agents.md").locator(".cm-line span", { hasText: "sensitivity" });
  const told = page.locator(".cm-explanation");
  await eventually(async () => {
    await page.mouse.move(0, 0);
    await key.hover();
    await told.waitFor({ timeout: 1_000 });
  });
  assert.match(await told.innerText(), /^sensitivity: The highest sensitivity of the agent's data\s+One of public, internal/);
});

visit("a fix is applied from the squiggle, by pointer and by keyboard, and undone", async ({ playground, page }) => {
  const wrong = MANIFEST.replace("category: reporting", "category: reportin");
  await playground.paste("agents.md", wrong);
  await playground.says("Not every requirement has a server");
  const applied = async () => {
    await playground.noticeIs("Applied: ");
    await playground.says("Every requirement has a server");
    assert.equal(await playground.text("agents.md"), MANIFEST);
  };
  const squiggle = playground.input("agents.md").locator(".cm-lintRange").filter({ hasText: "reportin" });
  await squiggle.first().hover();
  await page.locator(".cm-tooltip .cm-diagnosticAction").first().click();
  await applied();
  await playground.notice.getByRole("button", { name: "Undo" }).click();
  await playground.says("Not every requirement has a server");
  assert.equal(await playground.text("agents.md"), wrong);

  await playground.input("agents.md").focus();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("F8");
  await page.keyboard.press("Control+.");
  const list = page.locator(".cm-tooltip-autocomplete");
  await list.waitFor();
  await page.waitForTimeout(CHOICE_MS);
  await page.keyboard.press("Enter");
  await applied();
});

visit("the code in a tooltip opens its page, and a syntax error has the parser's reason there", async ({ playground, page }) => {
  await playground.paste("agents.lock", '{ "agent" 1 }');
  await playground.has(playground.problems.locator(".problem .cause"), [/\S/]);
  const [reason] = await playground.texts(playground.problems.locator(".problem .cause"));
  const told = page.locator(".cm-tooltip .cm-diagnostic");
  // A second answer, of the module that repairs, closes the tooltip of the first.
  await eventually(async () => {
    await page.keyboard.press("Control+Home");
    await page.keyboard.press("F8");
    await told.waitFor({ timeout: 1_000 });
  });
  assert.ok((await playground.texts(told))[0].includes(reason), reason);
  await told.locator("a").click();
  await playground.dialog.locator(".code-page h3").first().waitFor();
});

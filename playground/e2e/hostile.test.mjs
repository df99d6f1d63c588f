import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";
import { INDEX, MANIFEST } from "./hello.mjs";
import { holdUps, slowdown, takeTimes } from "./measure.mjs";
import { CALL, PAYLOAD, PLAN, PROFILE, visitPlans } from "./plans.mjs";
import { visit } from "./visit.mjs";

/** When a page counts as hung. A huge text takes seconds, and on a loaded machine many. */
const HUNG_MS = 120_000;

/** Maximum time in which the page does not react, on an idle machine. */
const GAP_MS = 3_000;

const MARKUP = [
  "<script>window.ran='script'</script>",
  "<img src=x onerror=\"window.ran='img'\">",
  "\"><svg onload=window.ran='svg'>",
  "{{constructor.constructor('window.ran=1')()}}",
  "\u202egpj.exe\u202c \u2066\u200f\u2069",
  "`code` [link](javascript:window.ran='link') ${window.ran=1}",
];

const server = (/** @type {string} */ text, /** @type {number} */ number) => ({
  id: `${text}${number}`,
  version: `1.${number}.0`,
  endpoint: "https://x.example/javascript:window.ran='endpoint'",
  categories: ["audiences", text],
  scopes: ["read:audiences", "write:audiences", text],
  data: { residency: "any", maxSensitivity: "pii.high" },
  trust: { signed: true, publisher: text },
});

const pretty = () => {
  const one = JSON.stringify(JSON.parse(INDEX).servers[0], null, 2);
  const count = Math.floor((20 << 20) / (one.length + 2));
  return `{"servers": [\n${Array.from({ length: count }, (_, at) => one.replace("acme-audiences", `acme-${at}`)).join(",\n")}\n]}\n`;
};

const HUGE = {
  "2 million brackets": () => "[".repeat(2_000_000),
  "20 MB in one line": () => `{"servers": [${JSON.stringify("x".repeat(20 << 20))}]}`,
  "20 MB of pretty JSON": pretty,
  "2 million directional characters": () => `"${"\u202e\u2066".repeat(1_000_000)}"`,
};

for (const [what, make] of Object.entries(HUGE)) {
  visit(`an index of ${what} neither freezes the page nor spoils it`, async ({ playground, page }, t) => {
    await takeTimes(page);
    await page.reload();
    await playground.verdict();
    page.setDefaultTimeout(HUNG_MS);
    const text = make();
    const started = performance.now();
    const { gap } = await holdUps(page, async () => {
      await playground.paste("mcp.index.json", text);
      await eventually(async () => assert.equal(await page.locator("#answer-panel").getAttribute("aria-busy"), "false"), HUNG_MS);
    });
    t.diagnostic(`answered after ${Math.round(performance.now() - started)} ms; the page was held up for ${Math.round(gap)} ms`);
    assert.ok(gap < GAP_MS * (await slowdown(page)), `the page was held up for ${gap} ms`);
    assert.equal(await page.locator(".failure").count(), 0);

    await playground.paste("mcp.index.json", INDEX);
    await playground.says("Every requirement has a server");
    await page.locator(".facts", { hasText: "4 servers" }).waitFor();
  });
}

visit("markup, script addresses and directional characters are shown, and nothing runs", async ({ playground, page }) => {
  await playground.paste("mcp.index.json", JSON.stringify({ servers: MARKUP.map(server) }, null, 2));
  await playground.says(/./);
  await playground.open("Verdict");
  const seen = async () => (await playground.root.locator(".answer").innerText()) + (await playground.root.locator(".inputs").innerText());
  await inertEverywhere(playground, seen);

  // The same text as a valid name, in documents whose names may contain it.
  const accepted = INDEX.replaceAll("acme-audiences", "<script>ran=1</script>").replaceAll(
    "https://mcp.acme.example/audiences",
    "https://x.example/javascript:window.ran=1",
  );
  await playground.paste("mcp.index.json", accepted);
  await playground.paste("agents.md", MANIFEST.replace("hello-agent", "'<img src=x onerror=ran=1>'"));
  await inertEverywhere(playground, seen);
  assert.match(await playground.text("mcp.index.json"), /<script>/);

  await playground.paste("agents.md", MANIFEST);
  await playground.paste("mcp.index.json", INDEX);
  await playground.says("Every requirement has a server");
});

visitPlans("plans", "in plans and groundings, too, markup is shown and nothing runs", async (plans, { page }) => {
  for (const text of MARKUP) {
    const quoted = JSON.stringify(text).slice(1, -1);
    await plans.area("Plans");
    await plans.input("plan.json").waitFor();
    await plans.paste("plan.json", PLAN.replaceAll("List the largest audiences", quoted).replace('"tool_id": "list"', `"tool_id": "list", "${quoted}": 1`));
    await plans.paste("profile.json", PROFILE.replaceAll("read-audiences", quoted));
    await plans.says(/The plan may not run/);
    await plans.paste("plan.json", PLAN.replaceAll("List the largest audiences", quoted).replace('"limit": 2', `"limit": "${quoted}"`));
    await plans.says(/The plan may not run/);
    for (const chip of await plans.root.locator(".chip").all()) await chip.click();
    await page.getByText("Validation report").click();
    await plans.root.locator(".viewer .cm-line").first().waitFor();
    await inert(page);

    await plans.area("One call");
    await plans.input("call.json").waitFor();
    await plans.paste("call.json", CALL.replace('"limit": 2', `"${quoted}": "${quoted}"`).replace("acme-audiences", quoted));
    await plans.says(/The call may not be made|No decision/);
    for (const chip of await plans.root.locator(".chip").all()) await chip.click();
    await plans.paste("call.json", JSON.stringify({ type: "final_answer", answer: `Which: ${text}`, needs_more_info: true }));
    await plans.says("needs more information");
    assert.equal(await plans.root.locator(".asks").innerText(), `Which: ${text.replaceAll(/\s+/g, " ")}`);
    await inert(page);

    await plans.area("Grounding");
    await plans.input("payload.json").waitFor();
    await plans.paste("payload.json", JSON.stringify({ [text]: [`${text} and more`] }));
    await plans.paste("summary.json", JSON.stringify([{ claim: text, evidence: `${text} and more` }, { claim: text, evidence: `${text} and mere` }]));
    await plans.says(/claim/);
    await plans.claims.nth(1).locator(".claimed").click();
    await plans.claims.nth(1).getByRole("button", { name: "Apply" }).click();
    await plans.says("Each claim quotes the payload");
    await inert(page);
  }
});

for (const [what, make] of Object.entries(HUGE)) {
  visitPlans("grounding", `a payload of ${what} neither freezes the page nor spoils it`, async (plans, { page }, t) => {
    await takeTimes(page);
    await page.reload();
    await plans.says("Each claim");
    page.setDefaultTimeout(HUNG_MS);
    const text = make();
    const started = performance.now();
    const { gap } = await holdUps(page, async () => {
      await plans.paste("payload.json", text);
      await eventually(async () => assert.equal(await plans.root.locator("#decided").getAttribute("aria-busy"), "false"), HUNG_MS);
    });
    t.diagnostic(`answered after ${Math.round(performance.now() - started)} ms; the page was held up for ${Math.round(gap)} ms`);
    assert.ok(gap < GAP_MS * (await slowdown(page)), `the page was held up for ${gap} ms`);
    assert.equal(await page.locator(".failure").count(), 0);
    await plans.paste("payload.json", PAYLOAD);
    await plans.says("Each claim quotes the payload");
  });
}

/**
 * Opens everything that can be opened.
 * @param {import("./playground.mjs").Playground} playground
 * @param {() => Promise<string>} seen
 */
async function inertEverywhere(playground, seen) {
  const { page } = playground;
  for (const tab of /** @type {const} */ (["Verdict", "Matrix", "What if", "Policy", "agents.lock", "Explanation", "Verdict"])) {
    await playground.open(tab);
    await seen();
    const cell = playground.answer.locator(".scroller td button, .requirements:not(.before *) .server").first();
    if (await cell.count()) {
      await cell.click();
      await playground.explanation.locator("p").first().waitFor();
      await playground.explanation.getByRole("button", { name: "Close the explanation" }).click();
    }
  }
  await inert(page);
}

/** @param {import("playwright-core").Page} page */
async function inert(page) {
  const found = await page.evaluate(() => ({
    ran: "ran" in window ? window.ran : undefined,
    scripts: [...document.querySelectorAll("script")].filter((script) => !script.src).length,
    images: document.querySelectorAll("img[src], iframe, object, embed").length,
    links: [...document.querySelectorAll("a[href]")].map((link) => link.protocol).filter((protocol) => !/^https?:$/.test(protocol)),
    handlers: [...document.querySelectorAll("*")].filter((element) => [...element.attributes].some(({ name }) => name.startsWith("on"))).length,
  }));
  assert.deepEqual(found, { ran: undefined, scripts: 0, images: 0, links: [], handlers: 0 });
}

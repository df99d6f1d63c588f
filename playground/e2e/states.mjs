// The main states of the page, for tests of all of them.

import { LOCK } from "./hello.mjs";
import { Plans } from "./plans.mjs";
import { Reviews } from "./reviews.mjs";
import { Run } from "./run.mjs";
import { Sessions } from "./sessions.mjs";

/** @import { Playground } from "./playground.mjs" */

/** @param {Playground} playground */
async function reject(playground) {
  await showInput(playground, "agents.md");
  await playground.type("agents.md", "internal", "confidential");
  await showAnswer(playground);
  await playground.says("Not every requirement has a server");
}

/**
 * @param {Playground} playground
 * @param {import("./playground.mjs").InputName} name
 */
async function showInput(playground, name) {
  if (await playground.input(name).isVisible()) return;
  const parts = playground.page.getByRole("navigation", { name: "Parts of the page" });
  if (await parts.isVisible()) await parts.getByRole("button", { name }).click();
  else await playground.show(name);
}

/** @param {Playground} playground */
async function showAnswer(playground) {
  const answer = playground.page.getByRole("navigation", { name: "Parts of the page" }).getByRole("button", { name: "Answer" });
  if (await answer.isVisible()) await answer.click();
}

/** Those of a first visit, with the page's own first example. Each is from the one before. */
export const ARRIVALS = /** @type {Record<string, (playground: Playground) => Promise<void>>} */ ({
  "front-door": (playground) => playground.verdict(),
  paste: async (playground) => {
    // On a phone, the button is beside the documents.
    await showInput(playground, "agents.md");
    await playground.root.getByRole("button", { name: "Paste your own configuration" }).click();
    await playground.input("import").waitFor();
  },
  tour: async (playground) => {
    await showInput(playground, "agents.md");
    await playground.root.getByRole("button", { name: "Three edits" }).click();
    await playground.root.getByRole("button", { name: "Leave" }).waitFor();
  },
  "tour-done": async (playground) => {
    await playground.root.getByRole("button", { name: "Do it" }).click();
    await playground.settled();
    await playground.root.getByRole("button", { name: "Next" }).waitFor();
  },
  wait: async (playground) => {
    await playground.page.evaluate(() => window.engineWorker.terminate());
    await showInput(playground, "agents.md");
    await playground.type("agents.md", "read:mail", "read:mails");
    await showAnswer(playground);
    await playground.page.getByText("Below is the answer to earlier inputs.").waitFor();
  },
  stopped: async (playground) => {
    await playground.page.getByRole("button", { name: "Stop" }).click();
    await playground.page.getByRole("alert").filter({ hasText: "the engine was stopped" }).waitFor();
  },
});

/** The states without an answer to the present inputs. */
export const UNDECIDED = ["wait", "stopped"];

/** Each from the one before; a dialog that is open is closed first. */
export const STATES = /** @type {Record<string, (playground: Playground) => Promise<void>>} */ ({
  hello: (playground) => playground.verdict(),
  "tie-break": async (playground) => {
    const card = playground.card("audiences");
    await card.getByRole("button", { name: /How the tie/ }).click();
    await card.locator(".list").waitFor();
  },
  "what-if": async (playground) => {
    await playground.open("What if");
    await playground.page.getByLabel("requireSigned").check();
    await playground.page.getByLabel("residency").selectOption("eu-only");
    await playground.answer.locator(".comparison .changed").first().waitFor();
  },
  matrix: (playground) => playground.open("Matrix"),
  explain: async (playground) => {
    await playground.answer.getByRole("button", { name: /^gamma 1.0.0, audiences/ }).click();
    await playground.explanation.locator(".checks").waitFor();
  },
  lock: async (playground) => {
    await playground.explanation.getByRole("button", { name: "Close the explanation" }).click();
    await showInput(playground, "agents.lock");
    await playground.paste("agents.lock", LOCK.replace('"write:audiences"', '"write:nothing"').replace("3.4.1", "3.4.0"));
    await showAnswer(playground);
    await playground.open("agents.lock");
    await playground.answer.getByRole("button", { name: "Against the pasted lock" }).click();
    await playground.answer.locator(".cm-deletedChunk").first().waitFor();
  },
  explanation: async (playground) => {
    await playground.open("Explanation");
    await playground.answer.locator(".viewer").waitFor();
  },
  rejection: async (playground) => {
    await playground.open("Verdict");
    await reject(playground);
  },
  applied: async (playground) => {
    await playground.cards.locator(".apply").first().click();
    await playground.noticeIs("Applied");
  },
  problem: async (playground) => {
    await playground.notice.getByRole("button", { name: "Close" }).click();
    await showInput(playground, "agents.md");
    await playground.type("agents.md", "ires:", "iers:");
    await showAnswer(playground);
    await playground.problems.waitFor();
  },
  examples: async (playground) => {
    await playground.press("Examples");
    await playground.dialog.waitFor();
  },
  share: async (playground) => {
    await playground.page.keyboard.press("Escape");
    await playground.press("Share");
    await playground.dialog.getByLabel("Link").waitFor();
  },
  help: async (playground) => {
    await playground.page.keyboard.press("Escape");
    await playground.press("Help");
    await playground.dialog.waitFor();
  },
  recent: async (playground) => {
    await playground.page.keyboard.press("Escape");
    await playground.press("Recent");
    await playground.dialog.waitFor();
  },
  menu: async (playground) => {
    await playground.page.keyboard.press("Escape");
    await playground.page.getByRole("toolbar").getByRole("button", { name: "Menu" }).click();
    await playground.page.getByRole("button", { name: "Recent" }).waitFor();
  },
  capabilities: async (playground) => {
    await playground.page.keyboard.press("Escape");
    await playground.example("Tools for a task");
    await playground.says("Not every requirement has a server or a tool");
    const card = playground.card("search:internet");
    await card.getByRole("button", { name: /How they were ranked/ }).click();
    await card.getByRole("button", { name: /^health / }).click();
    await card.locator(".list").nth(1).waitFor();
  },
  tools: async (playground) => {
    // It would lie over the matrix on a phone.
    await playground.notice.getByRole("button", { name: "Close" }).click();
    await playground.open("Matrix");
    await playground.answer.getByRole("button", { name: "Tools", exact: true }).click();
    await playground.answer.getByText("9 tools").waitFor();
  },
  "explain-tool": async (playground) => {
    await playground.answer.getByRole("button", { name: /^repo-reader 1.0.3 \/ read_file, read:codebase/ }).click();
    await playground.explanation.getByRole("button", { name: "Suppose HEALTHY" }).waitFor();
  },
  tokens: async (playground) => {
    await playground.explanation.getByRole("button", { name: "Suppose HEALTHY" }).click();
    await playground.explanation.getByText("read:codebase: selected").waitFor();
    await playground.explanation.getByRole("button", { name: "Close the explanation" }).click();
    await playground.open("Verdict");
    await playground.answer.getByRole("img", { name: "Token budget" }).waitFor();
  },
  tenant: async (playground) => {
    await showInput(playground, "tenant.yaml");
    await playground.input("tenant.yaml").waitFor();
  },
  policy: async (playground) => {
    await showAnswer(playground);
    await playground.example("A policy in Rego");
    await playground.answer.getByText("POLICY_DENIED").first().waitFor();
  },
  "policy-text": (playground) => showInput(playground, "policy.rego"),
  "policy-rules": async (playground) => {
    await showAnswer(playground);
    await playground.open("Policy");
    await playground.answer.getByText("deny_reasons").first().waitFor();
  },
  import: async (playground) => {
    // Beside an example without an edit, it would not wait.
    await showInput(playground, "agents.md");
    await playground.type("agents.md", "version: 1.0.0", "version: 1.0.1");
    await showInput(playground, "mcp.index.json");
    const server = { command: "npx", args: ["-y", "@modelcontextprotocol/server-github@2025.4.8"] };
    await playground.paste("mcp.index.json", JSON.stringify({ mcpServers: { github: server } }, undefined, 2));
    await playground.root.getByRole("region", { name: "Import" }).getByText("with 1 server").waitFor();
  },
  "import-errors": async (playground) => {
    await playground.type("import", "@2025.4.8", "");
    await playground.root.getByRole("region", { name: "Import" }).getByText("MISSING_FIELD").waitFor();
  },
  plan: async (playground) => {
    const plans = new Plans(playground.page);
    await plans.area("Plans");
    await plans.says("The plan may run");
    await plans.check("limits").click();
    await plans.detail.waitFor();
  },
  "plan-denied": async (playground) => {
    const plans = new Plans(playground.page);
    await plans.example("Everything at once");
    await plans.says("The plan may not run");
    await plans.detail.locator(".apply").first().waitFor();
  },
  "plan-report": async (playground) => {
    const plans = new Plans(playground.page);
    await plans.root.getByText("Validation report").click();
    await plans.root.getByText("Documents of this decision").click();
    await plans.root.locator(".viewer .cm-line").first().waitFor();
  },
  "plan-run": async (playground) => {
    const plans = new Plans(playground.page);
    await plans.example("Over HTTP, without a lock");
    const run = new Run(plans);
    await run.begin();
    await run.answer("It asks for the request of its input", "A public address");
    await run.area.locator(".wanted").scrollIntoViewIfNeeded();
  },
  "plan-run-ended": async (playground) => {
    const run = new Run(new Plans(playground.page));
    await run.press("Answer all by example");
    await run.says("The run is completed");
    await run.area.getByRole("button", { name: "run_summary.json" }).click();
    await run.area.locator(".viewer .cm-line").first().waitFor();
  },
  call: async (playground) => {
    const plans = new Plans(playground.page);
    await plans.area("One call");
    await plans.says("The call may be made");
    await plans.check("read-only").click();
    await plans.detail.waitFor();
  },
  "call-authorised": async (playground) => {
    const plans = new Plans(playground.page);
    await plans.root.getByText("Authorised plan").click();
    await plans.root.getByText("Documents of this decision").click();
    await plans.root.locator(".viewer .cm-line").first().waitFor();
  },
  "call-denied": async (playground) => {
    const plans = new Plans(playground.page);
    await plans.example("A tool that is misspelt");
    await plans.detail.locator(".apply").first().waitFor();
  },
  "call-undecided": async (playground) => {
    const plans = new Plans(playground.page);
    await plans.example("Prose around a plan");
    await plans.problems.waitFor();
  },
  "plan-examples": async (playground) => {
    const plans = new Plans(playground.page);
    await plans.press("Examples");
    await plans.dialog.waitFor();
  },
  "plan-help": async (playground) => {
    const plans = new Plans(playground.page);
    await plans.page.keyboard.press("Escape");
    await plans.press("Help");
    await plans.dialog.waitFor();
  },
  grounding: async (playground) => {
    const plans = new Plans(playground.page);
    await plans.page.keyboard.press("Escape");
    await plans.area("Grounding");
    await plans.says("Each claim quotes the payload");
    await plans.claims.locator(".claimed").first().click();
    await plans.root.locator(".claim.chosen").waitFor();
  },
  "near-miss": async (playground) => {
    const plans = new Plans(playground.page);
    await plans.example("Quotation marks of another kind");
    await plans.claims.locator("del").first().waitFor();
  },
  payload: async (playground) => {
    const plans = new Plans(playground.page);
    const parts = plans.page.getByRole("navigation", { name: "Parts of the page" });
    if (await parts.isVisible()) await parts.getByRole("button", { name: "payload.json" }).click();
    await plans.input("payload.json").locator(".cm-place-near").first().waitFor();
  },
  session: async (playground) => {
    const sessions = new Sessions(playground.page);
    await sessions.area("Session");
    await showAnswer(playground);
    await sessions.decides("A human must approve it");
  },
  "session-asked": async (playground) => {
    const sessions = new Sessions(playground.page);
    await sessions.click("Make this call");
    await sessions.waits.first().waitFor();
  },
  "session-open": async (playground) => {
    const sessions = new Sessions(playground.page);
    await sessions.click("Approve");
    await sessions.past.nth(1).waitFor();
  },
  "session-tools": async (playground) => {
    const sessions = new Sessions(playground.page);
    await sessions.tool("reply").getByRole("button", { name: "reply", exact: true }).click();
    await sessions.tool("search_pages").scrollIntoViewIfNeeded();
  },
  "session-refused": async (playground) => {
    const sessions = new Sessions(playground.page);
    await sessions.example("A tool on demand, by its own name");
    await showAnswer(playground);
    await sessions.decides("Refused");
  },
  audit: async (playground) => {
    const sessions = new Sessions(playground.page);
    await sessions.area("Audit");
    await sessions.example("Another policy");
    await showAnswer(playground);
    await sessions.says("2 of 6 calls decided otherwise");
  },
  review: async (playground) => {
    const reviews = new Reviews(playground.page);
    await reviews.area("Review");
    await showAnswer(playground);
    await reviews.says("the scope write:audiences is newly granted");
  },
  "review-definition": async (playground) => {
    const reviews = new Reviews(playground.page);
    await reviews.tools.last().scrollIntoViewIfNeeded();
    await reviews.tools.last().locator(".cm-deletedChunk").first().waitFor();
  },
  "review-less": async (playground) => {
    const reviews = new Reviews(playground.page);
    await reviews.example("A change that only takes access away");
    await showAnswer(playground);
    await reviews.says("No change gives the agent more access");
  },
});

const PHONE = { width: 360, height: 740 };

/** In states that differ in colours alone, only the colours are checked. */
const COLOURS = ["color-contrast"];

export const LOOKS = [
  { name: "wide-light", browser: { colorScheme: /** @type {const} */ ("light") } },
  { name: "wide-dark", browser: { colorScheme: /** @type {const} */ ("dark") }, rules: COLOURS },
  { name: "narrow-light", browser: { colorScheme: /** @type {const} */ ("light"), viewport: PHONE } },
  { name: "narrow-dark", browser: { colorScheme: /** @type {const} */ ("dark"), viewport: PHONE }, rules: COLOURS },
];

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { deflateRawSync } from "node:zlib";
import { eventually } from "./eventually.mjs";
import { INDEX, LOCK, MANIFEST } from "./hello.mjs";
import { Plans, SUMMARY, visitPlans } from "./plans.mjs";
import { Playground } from "./playground.mjs";
import { Sessions } from "./sessions.mjs";
import { visit } from "./visit.mjs";

const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };

/** @param {string | Buffer} state @returns {string} the fragment that holds it */
const pack = (state) => `1.${deflateRawSync(state).toString("base64url")}`;

const OTHER_VERSION = pack(JSON.stringify({ engine: "0.0.9", manifest: MANIFEST.replace("hello", "older"), index: INDEX }));

visit("a link restores everything for a new visitor", async ({ playground, page, another }) => {
  const manifest = MANIFEST.replace("# Hello, agent", "# Grüße \u{1f916} `#?&%`").replace("internal", "pii.high");
  await playground.paste("agents.md", manifest);
  await playground.paste("agents.lock", LOCK);
  await playground.says("Not every requirement has a server");
  await playground.press("Share");
  const link = await playground.dialog.getByLabel("Link").inputValue();
  assert.equal(await playground.dialog.getByRole("alert").count(), 0);
  await playground.dialog.getByRole("button", { name: "Copy" }).click();
  await playground.noticeIs("Copied the link");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), link);

  const other = await another({ fragment: link.split("#")[1] });
  await other.noticeIs("Opened the link");
  await other.says("Not every requirement has a server");
  assert.equal(await other.text("agents.md"), manifest);
  assert.equal(await other.text("mcp.index.json"), INDEX);
  await other.show("agents.lock");
  assert.equal(await other.text("agents.lock"), LOCK);
  assert.ok(!other.page.url().includes("#"), "the address still has the state of before");
}, { browser: CLIPBOARD });

visit("the link that `agent share` prints opens the same files", async ({ another }) => {
  // A test of the program compares the file with what it prints.
  const link = (await readFile(new URL("program-link.txt", import.meta.url), "utf8")).trim();
  const other = await another({ fragment: link.slice(1) });
  await other.noticeIs("Opened the link");
  await other.says("Every requirement has a server");
  assert.equal(await other.text("agents.md"), MANIFEST);
  assert.equal(await other.text("mcp.index.json"), INDEX);
});

/** The token that `agent playground` puts into the address. */
const TOKEN = "0123456789abcdef".repeat(4);

visit("the files of the program that serves the page are opened, and the address forgets the token", async ({ playground, page, address }) => {
  const asked = [];
  const manifest = MANIFEST.replace("hello", "folder");
  await page.route("**/documents.json", (route) => {
    asked.push(route.request().headers().authorization);
    return route.fulfill({ json: { engine: "0.1.0", manifest, index: INDEX } });
  });
  await page.goto("about:blank");
  await page.goto(`${address}#local.${TOKEN}`);
  await playground.noticeIs("Opened the link");
  assert.equal(await playground.text("agents.md"), manifest);
  assert.deepEqual(asked, [`Bearer ${TOKEN}`]);
  assert.equal(page.url(), address);
  await page.goBack();
  assert.ok(!page.url().includes(TOKEN), "the history has the token");
});

visit("files that the program does not give are said to be missing", async ({ playground, page, address }) => {
  await page.route("**/documents.json", (route) => route.fulfill({ status: 401, body: "the token is missing or unknown" }));
  await page.goto("about:blank");
  await page.goto(`${address}#local.${TOKEN}`);
  await page.getByRole("alert").filter({ hasText: "The files can't be opened: the token is missing or unknown." }).waitFor();
  await playground.says("Every requirement has a server");
}, { expected: [/^console: .* 401/] });

visit("a link asks before it replaces other inputs, in a new tab and in an open one", async ({ playground, page, context, address }) => {
  await playground.type("agents.md", "hello", "mine");
  // An address that is pasted into an open page.
  await page.evaluate((fragment) => (location.hash = fragment), OTHER_VERSION);
  await playground.has(playground.dialog.locator(".compared li"), ["agents.md: 1 line, `name`"]);
  const open = playground.dialog.getByRole("button", { name: "Open, and keep your inputs under Recent" });
  assert.ok(await open.evaluate((button) => button === document.activeElement), "it has not the keyboard");
  await playground.dialog.getByRole("button", { name: "Stay with your inputs" }).click();
  assert.match(await playground.text("agents.md"), /^name: mine-agent$/m);
  assert.ok(!page.url().includes("#"));

  await page.evaluate((fragment) => (location.hash = fragment), OTHER_VERSION);
  await playground.dialog.getByRole("button", { name: "Open, and keep your inputs under Recent" }).click();
  await playground.noticeIs("Engine 0.0.9 made the link");
  assert.match(await playground.text("agents.md"), /^name: older-agent$/m);
  await playground.press("Recent");
  await playground.has(playground.dialog.locator(".example"), [/^name: mine-agent /]);
  await playground.dialog.locator(".example").click();
  await playground.noticeIs("Opened recent inputs");
  assert.match(await playground.text("agents.md"), /^name: mine-agent$/m);
  await page.close();

  const other = await context.newPage();
  await other.goto(`${address}#${OTHER_VERSION}`);
  const again = new Playground(other);
  await again.dialog.getByText("Open the link?").waitFor();
  assert.match(await again.text("agents.md"), /^name: mine-agent$/m);
});

visit("a link opens the tab and the explanation that were open", async ({ playground, another }) => {
  await playground.open("Matrix");
  await playground.answer.getByRole("button", { name: /^gamma 1.0.0, audiences/ }).click();
  await playground.explanation.locator(".checks").waitFor();
  await playground.press("Share");
  const link = await playground.dialog.getByLabel("Link").inputValue();
  const other = await another({ fragment: link.split("#")[1], wait: false });
  await other.noticeIs("Opened the link");
  await other.explanation.getByRole("heading", { name: /gamma/ }).waitFor();
  await other.tabs.getByRole("tab", { name: "Matrix", selected: true }).waitFor();
});

visitPlans("grounding", "a link also holds the inputs of plans and groundings, and their area", async (plans, { another }) => {
  await plans.paste("summary.json", SUMMARY.replace("[", "[ "));
  await plans.press("Share");
  const link = await plans.dialog.getByLabel("Link").inputValue();
  assert.match(link, /#grounding\.1\./);
  const other = new Plans((await another({ fragment: link.split("#")[1], wait: false })).page);
  await other.noticeIs("Opened the link");
  assert.equal(await other.text("summary.json"), SUMMARY.replace("[", "[ "));
  assert.match(other.page.url(), /#grounding$/);
  // It holds everything of its page, and nothing of the other.
  await other.area("Plans");
  await other.says("The plan may run");
});

visit("a link also holds the task, the chosen tenant, health and the policy", async ({ playground, another }) => {
  const texts = /** @type {const} */ ({
    "task.yaml": "task_id: t\nrequired_capabilities:\n  - verb: read\n    resource: fs\n",
    "tenant.yaml": "tenants:\n  - id: one\n  - id: two\n    api_key: not-so-secret\n",
    "health.yaml": "acme: HEALTHY\n",
    "context.yaml": "hour: 14\n",
  });
  await playground.show("policy.rego");
  for (const [name, text] of Object.entries(texts)) {
    await playground.show(name === "context.yaml" ? "policy.rego" : name);
    await playground.paste(name, text);
  }
  await playground.show("tenant.yaml");
  await playground.problems.getByText("TENANT_UNKNOWN").waitFor();
  await playground.page.getByLabel("Tenant", { exact: true }).fill("two");
  await playground.problems.getByText("TENANT_UNKNOWN").waitFor({ state: "detached" });

  await playground.press("Share");
  await playground.has(playground.dialog.getByRole("alert").getByRole("listitem"), [/^tenant\.yaml, line 4: looks like a secret$/]);
  const link = await playground.dialog.getByLabel("Link").inputValue();
  const other = await another({ fragment: link.split("#")[1] });
  await other.noticeIs("Opened the link");
  for (const [name, text] of Object.entries(texts)) assert.equal(await other.text(name), text, name);
  await other.show("tenant.yaml");
  assert.equal(await other.page.getByLabel("Tenant", { exact: true }).inputValue(), "two");
  assert.equal(await other.problems.getByText("TENANT_UNKNOWN").count(), 0);
});

visit("a link of another version is reported", async ({ playground }) => {
  await playground.noticeIs(/Engine 0\.0\.9 made the link, and this is \d+\.\d+\.\d+: the answer may differ/);
  assert.match(await playground.text("agents.md"), /^name: older-agent$/m);
}, { fragment: OTHER_VERSION });

const WHOLE = pack(JSON.stringify({ engine: "0.1.0", manifest: MANIFEST, index: INDEX, lock: "" }));

const DAMAGED = {
  "of an unknown form": "9.abc",
  "of an invalid form": "%00%ff",
  "cut off": WHOLE.slice(0, WHOLE.length / 2),
  "with another character": `${WHOLE.slice(0, 40)}!${WHOLE.slice(41)}`,
  "that is not compressed": `1.${Buffer.from("not compressed at all").toString("base64url")}`,
  "that is not JSON": pack("{"),
  "of other JSON": pack('{"engine": 1}'),
  "that is not UTF-8": pack(Buffer.from([0x22, 0xff, 0x22])),
  "that holds nothing": "1.",
  "that would fill the memory": pack(Buffer.alloc(100 << 20)),
};

visit("a damaged or hostile link is refused, and the page works", async ({ playground, page, address }) => {
  for (const [what, fragment] of Object.entries(DAMAGED)) {
    await page.goto("about:blank");
    await page.goto(`${address}#${fragment}`);
    await playground.noticeIs(/^The link can't be opened: (it is cut off or damaged|its format is unknown|it names no engine|it holds )/);
    assert.doesNotMatch(await playground.notice.innerText(), /JsValue|undefined|\[object/, what);
    await playground.says("Every requirement has a server");
    assert.equal(await playground.text("agents.md"), MANIFEST, what);
  }
  assert.match(await playground.notice.innerText(), /it holds more than 8388608 bytes/);
  await playground.type("agents.md", "internal", "confidential");
  await playground.says("Not every requirement has a server");
});

visit("the page warns before it shares a text that looks like a secret", async ({ playground }) => {
  await playground.paste("mcp.index.json", INDEX.replace("https://beta.example", "https://me:hunter2@beta.example"));
  await playground.paste("agents.md", `${MANIFEST}\nghp_${"a1B2".repeat(9)}\n`);
  await playground.press("Share");
  await playground.has(playground.dialog.getByRole("alert").getByRole("listitem"), [
    /^agents\.md, line 25: looks like a GitHub token$/,
    /^mcp\.index\.json, line 16: looks like a password in an address$/,
  ]);
  assert.ok(await playground.dialog.getByLabel("Link").inputValue());
});

visit("texts that are too large for a link are refused", async ({ playground }) => {
  const noise = Array.from({ length: 40_000 }, (_, at) => ((at * 7919 + 104_729) ** 2 % 1_000_003).toString(36)).join(" ");
  await playground.paste("agents.md", `${MANIFEST}\n${noise}\n`);
  await playground.press("Share");
  await playground.dialog.getByRole("alert").filter({ hasText: /There is no link: the link would have \d+ characters/ }).waitFor();
  assert.equal(await playground.dialog.getByLabel("Link").count(), 0);
});

visitPlans("call", "the answer of each other area is copied as Markdown, the verdict first", async (plans, { page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = async () => {
    await plans.page.evaluate(() => navigator.clipboard.writeText(""));
    await plans.page.getByRole("toolbar").filter({ visible: true }).getByRole("button", { name: "Menu" }).click();
    await plans.page.getByRole("button", { name: "Copy as Markdown" }).filter({ visible: true }).first().click();
    await eventually(async () => assert.notEqual(await page.evaluate(() => navigator.clipboard.readText()), ""));
    return page.evaluate(() => navigator.clipboard.readText());
  };
  await plans.example("A tool that is misspelt");
  await plans.says("The call may not be made");
  const call = await copied();
  assert.match(call, /^### ✗ The call may not be made\n\n- `TOOL_UNKNOWN` .* \(call\.json:\d+:\d+\)\n/);
  assert.ok(call.includes(`### \`call.json\`\n\n\`\`\`json\n${await plans.text("call.json")}`));
  assert.doesNotMatch(call, /`payload\.json`/);
  await plans.area("Grounding");
  await plans.example("Made up");
  await plans.says("Not every claim quotes the payload");
  assert.match(await copied(), /^### ✗ Not every claim quotes the payload\n\n- `UNGROUNDED` /);
  const sessions = new Sessions(page);
  await sessions.area("Session");
  await sessions.example("A tool that the lock forbids");
  await sessions.decides("Refused");
  assert.match(await copied(), /^### ✗ Refused\n\n- `FORBIDDEN_ACTION` /);
  await sessions.area("Audit");
  await sessions.example("Another policy");
  await sessions.says("2 of 6 calls decided otherwise");
  assert.match(await copied(), /^### ≠ 2 of 6 calls decided otherwise\n\n- record \d+, `\w+`: was asked, now refused; less access\n/);
});

visit("everything is copied as Markdown", async ({ playground, page }) => {
  await playground.type("agents.md", "internal", "confidential");
  await playground.says("Not every requirement has a server");
  await playground.press("Copy as Markdown");
  await playground.noticeIs("Copied verdict and inputs as Markdown");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(copied.startsWith("### ✗ Not every requirement has a server\n"));
  assert.ok(copied.includes(`### \`agents.md\`\n\n\`\`\`yaml\n${MANIFEST.replace("internal", "confidential")}\`\`\`\n`));
  assert.ok(copied.includes(`### \`mcp.index.json\`\n\n\`\`\`json\n${INDEX}\`\`\`\n`));
  assert.match(copied, /^- `UNSATISFIED` .*reporting.* \(agents\.md:13:18\)$/m);
  assert.match(copied, /^- ✓ `audiences`: `acme-audiences 2\.1\.0`$/m);
  assert.match(copied, /^- ✗ `reporting`: no server is eligible$/m);
  assert.match(copied, /^agent engine \d+\.\d+\.\d+$/m);
}, { browser: CLIPBOARD });

import assert from "node:assert/strict";
import axe from "axe-core";
import { violations } from "./axe.mjs";
import { eventually } from "./eventually.mjs";
import { PHONE, fits } from "./fits.mjs";
import { tabTo } from "./keys.mjs";
import { FIND, LOG, POLICY, REPLY, Sessions, visitSessions } from "./sessions.mjs";
import { stored, visit } from "./visit.mjs";

/** Files that only sessions need, by the ends of addresses. */
const OF_SESSIONS = /\/(agent-session-page[^/]*|session\.css|engine\/session\/[^/]+)$/;

visit("the first visit loads nothing of sessions; the first look at them does", async ({ page, playground }) => {
  const loaded = () => page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname));
  assert.deepEqual((await loaded()).filter((path) => OF_SESSIONS.test(path)), []);
  const sessions = new Sessions(page);
  await sessions.area("Session");
  await sessions.decides("A human must approve it");
  assert.ok((await loaded()).some((path) => OF_SESSIONS.test(path)));
  await sessions.area("Servers");
  await playground.says("Every requirement has a server");
});

visitSessions("session", "the first look shows what the agent sees, with the tokens of each definition", async (sessions) => {
  assert.equal(await sessions.text("tools-call.json"), REPLY);
  await sessions.root.getByRole("heading", { name: "The agent sees 3 tools" }).waitFor();
  await sessions.root.getByText("about 387 tokens · 814 with every definition · 5 on demand · 1 not in the lock").waitFor();
  await sessions.has(sessions.tools.locator(".tool-name"), [
    ...["find_tickets", "reply", "acme-wiki_helper"],
    ...["export_space", "list_spaces", "page_history", "read_page", "search_pages", "delete_ticket"],
  ]);
  await sessions.has(sessions.tool("find_tickets").locator(".tokens"), ["111"]);
  await sessions.has(sessions.tool("read_page").locator(".badge"), ["on demand"]);
  await sessions.tool("reply").getByRole("button", { name: "reply", exact: true }).click();
  await sessions.tool("reply").locator("pre", { hasText: '"maxLength":2000' }).waitFor();
});

visitSessions("session", "each example shows its code", async (sessions, { page }, t) => {
  await sessions.press("Examples");
  const group = sessions.dialog.locator(".gallery").first();
  const examples = await group.locator(".example").evaluateAll((all) => all.map((each) => [each.querySelector("strong").textContent, each.querySelector(".code").textContent]));
  await page.keyboard.press("Escape");
  t.diagnostic(`${examples.length} examples`);
  assert.ok(examples.length > 6);
  for (const [title, code] of examples) {
    await sessions.example(title);
    if (code === "✓") continue;
    await sessions.decides("Refused");
    await sessions.has(sessions.root.locator(".decision .reasons-list .code"), [code]);
    await sessions.root.locator(".decision", { hasText: "What would change it:" }).waitFor();
  }
});

visitSessions("session", "a decision follows each key, and a name that may be called instead is one click", async (sessions) => {
  await sessions.type("tools-call.json", "reply", "replay");
  await sessions.decides("An error of the protocol");
  await sessions.root.locator(".instead").getByRole("button", { name: "Call reply" }).click();
  await sessions.decides("A human must approve it");
  await sessions.tool("find_tickets").getByRole("button", { name: "Call find_tickets" }).click();
  await sessions.decides("Passed on");
  assert.match(await sessions.text("tools-call.json"), /"name": "find_tickets"/);
  // The decision is in sight, and the keyboard is there.
  const heading = sessions.root.getByRole("heading", { name: "This call" });
  await eventually(async () => assert.ok(await heading.evaluate((element) => element === document.activeElement)));
  const sight = async () => ((await sessions.decision.boundingBox())?.y ?? 0) > 0;
  assert.ok(await sight());
  await sessions.tool("search_pages").scrollIntoViewIfNeeded();
  await sessions.example("A tool that the lock forbids");
  await sessions.decides("Refused");
  await eventually(async () => assert.ok(await sight()));
  await sessions.paste("tools-call.json", "{");
  await sessions.decides("An error of the protocol");
  await sessions.paste("tools-call.json", "");
  await sessions.root.getByText("or choose a tool below").waitFor();
});

visitSessions("session", "an approved call passes once, and its server answers", async (sessions) => {
  await sessions.click("Make this call");
  await sessions.has(sessions.past, [/^Call 1 of reply: \? ?a human must approve it 2 arguments: ticket, text$/]);
  await sessions.click("Approve");
  await sessions.has(sessions.past, [/./, /A human approved, and the call was made again as call 2: ✓ ?passed on/]);
  // The next call of the same asks again.
  await sessions.decides("A human must approve it");
  await sessions.click("Answer");
  await sessions.has(sessions.past, [/./, /./, /the client gets the result as it is/]);
  assert.equal(await sessions.waits.count(), 0);
  await sessions.click("Back");
  await sessions.has(sessions.past, [/./, /./]);
  await sessions.click("Restart");
  assert.equal(await sessions.past.count(), 0);

  await sessions.click("Make this call");
  await sessions.click("Deny");
  await sessions.has(sessions.past, [/./, /APPROVAL_DENIED/]);
  await sessions.click("Restart");
  await sessions.click("Make this call");
  await sessions.click("Wait a minute");
  await sessions.has(sessions.past, [/./, /No human approved call 1 in time/]);
});

/** @param {import("playwright-core").Page} page @returns the names of the buttons that are filled */
function primary(page) {
  return page.locator("#session-answer").getByRole("button").evaluateAll((buttons) => {
    const filled = buttons.filter((button) => button.matches(".primary"));
    return filled.map((button) => button.textContent);
  });
}

visitSessions("session", "while a call waits, only Approve and Deny are primary, and the keyboard and screen readers are at it", async (sessions, { page }) => {
  const announced = sessions.root.locator("p[role=status]", { hasText: "waits for a human" });
  const focused = (/** @type {import("playwright-core").Locator} */ element) => eventually(async () => assert.ok(await element.evaluate((it) => it === document.activeElement)));
  assert.deepEqual(await primary(page), ["Make this call"]);
  assert.equal(await announced.count(), 0);
  await sessions.root.locator("#session-answer").focus();
  await tabTo(page, "Make this call");
  await page.keyboard.press("Enter");
  await focused(sessions.root.getByRole("heading", { name: "May the agent call reply?" }));
  assert.deepEqual(await primary(page), ["Approve", "Deny"]);
  assert.deepEqual(await announced.allTextContents(), ["A call of reply waits for a human."]);
  // A second Enter decides nothing, and the next stop may be the details.
  await page.keyboard.press("Enter");
  await sessions.settled();
  assert.equal(await sessions.past.count(), 1);
  await tabTo(page, "Approve");
  await page.keyboard.press("Enter");
  await focused(sessions.root.getByRole("heading", { name: /^Call 2 waits for its server: reply/ }));
  assert.deepEqual(await primary(page), ["Answer"]);
  assert.equal(await announced.count(), 0);
  await tabTo(page, "Answer");
  await page.keyboard.press("Enter");
  await focused(sessions.root.getByRole("heading", { name: /^What happened/ }));
  assert.deepEqual(await primary(page), ["Make this call"]);
  // Where the button stays, so does the keyboard.
  const wait = sessions.root.getByRole("button", { name: "Wait a minute" });
  await wait.click();
  await sessions.past.nth(3).waitFor();
  await focused(wait);
  // A visit begins where the browser puts it.
  await sessions.click("Make this call");
  await page.reload();
  await sessions.waits.first().waitFor();
  await sessions.settled();
  assert.ok(await page.evaluate(() => document.activeElement === document.body));
});

visitSessions("session", "the arguments of a call are a table with what the schema says, and long ones are folded", async (sessions, { page }) => {
  const table = (/** @type {import("playwright-core").Locator} */ of) => of.getByRole("table", { name: /^Arguments of / }).getByRole("row");
  const text = "The invoice is on its way. ".repeat(40);
  await sessions.paste("tools-call.json", JSON.stringify({ name: "reply", arguments: { ticket: "T-1042", text } }));
  await sessions.decides("A human must approve it");
  await sessions.click("Make this call");
  const expected = ["Argument Value Input schema", "ticket T-1042 string", /^text The invoice .*… 1,080 characters string, at most 2000 characters$/];
  await sessions.has(table(sessions.waits), expected);
  await table(sessions.waits).locator("summary").click();
  await table(sessions.waits).getByText(text.trim()).waitFor();
  assert.equal(await sessions.past.getByRole("table").count(), 0);
  await sessions.past.getByText("2 arguments").click();
  await sessions.has(table(sessions.past), expected);

  const wrong = { name: "find_tickets", arguments: { limit: 500, words: ["a", { b: 1 }] } };
  await sessions.paste("tools-call.json", JSON.stringify(wrong));
  await sessions.decides("Refused");
  await sessions.has(table(sessions.root.locator(".decision")), [/^Argument/, /^✗ ?refused: limit 500 integer, 1 to 50$/, /words \["a",\{"b":1\}\] string, at least 3 characters$/]);
  await sessions.paste("tools-call.json", JSON.stringify({ name: "find_tickets", arguments: {} }));
  await sessions.has(table(sessions.root.locator(".decision")), [/^Argument/, /words missing string/]);
  await page.setViewportSize({ width: 320, height: 640 });
  const parts = page.getByRole("navigation", { name: "Parts of the page" });
  await parts.getByRole("button", { name: "Answer" }).click();
  await fits(page, "arguments at 320 px");
});

for (const [width, beside] of /** @type {const} */ ([[1440, true], [1024, true], [900, true], [390, false]])) {
  visitSessions("session", `at ${width} px the tools are ${beside ? "beside" : "below"} what happened`, async (sessions, { page }) => {
    await sessions.click("Make this call");
    const tools = await sessions.root.locator("section.tools").boundingBox();
    const past = await sessions.root.locator("section.past").boundingBox();
    assert.ok(tools && past);
    if (beside) assert.ok(tools.x + tools.width <= past.x && Math.abs(tools.y - past.y) < 2, JSON.stringify({ tools, past }));
    else assert.ok(past.y + past.height <= tools.y && past.x === tools.x, JSON.stringify({ tools, past }));
    await fits(page, "columns");
  }, { browser: { viewport: { width, height: 860 } } });
}

visitSessions("session", "a result that the locked schema does not allow is withheld", async (sessions, { page }) => {
  await sessions.paste("tools-call.json", FIND);
  await sessions.decides("Passed on");
  await sessions.click("Make this call");
  await page.getByLabel("The server answers").fill('{"content":[],"structuredContent":{"tickets":7}}');
  await sessions.click("Answer");
  await sessions.has(sessions.past, [/./, /the result is withheld.*OUTPUT_INVALID/]);
});

visitSessions("session", "a helper expands tools, and a client may see every definition", async (sessions, { page }) => {
  await sessions.tool("read_page").getByRole("button", { name: "Expand read_page" }).click();
  await sessions.decides("Answered by the helper");
  await sessions.root.locator(".decision pre", { hasText: '"tokenEstimate"' }).waitFor();
  await sessions.root.locator(".client summary").click();
  await page.getByLabel("Token budget of definitions").fill("1");
  await page.keyboard.press("Tab");
  await sessions.decides("Refused");
  await sessions.has(sessions.root.locator(".decision .reasons-list .code"), ["TOKEN_BUDGET_EXCEEDED"]);
  await page.getByLabel("Tools on demand").selectOption({ label: "every definition" });
  await sessions.root.getByRole("heading", { name: "The agent sees 7 tools" }).waitFor();
});

visitSessions("session", "a server that ended is not called until it starts again", async (sessions) => {
  await sessions.paste("tools-call.json", FIND);
  await sessions.decides("Passed on");
  await sessions.click("End acme-desk");
  await sessions.decides("Refused");
  await sessions.has(sessions.root.locator(".decision .reasons-list .code"), ["HEALTH_VETO"]);
  await sessions.click("Start acme-desk");
  await sessions.past.nth(1).waitFor();
});

visitSessions("session", "the calls of a session are decided again under another policy", async (sessions) => {
  await sessions.click("Make this call");
  await sessions.click("Approve");
  await sessions.click("Try another policy on these calls");
  await sessions.says("2 calls decided as recorded");
  await sessions.paste("policy.rego", POLICY);
  await sessions.says("2 of 2 calls decided otherwise");
  await sessions.has(sessions.calls.locator(".card-head span:last-child"), ["was asked, now refused", "was allowed, now refused"]);
  // A difference is no error, and less access is no warning.
  await sessions.has(sessions.root.locator(".facts"), ["2 with less access · changed: policy"]);
  assert.equal(await sessions.root.locator(".input-name .badge").count(), 0);
  assert.equal(await sessions.calls.locator(".badge").count(), 0);
  await sessions.calls.first().getByRole("button", { name: /^agent\.audit\.jsonl:/ }).click();
  await eventually(async () => assert.match(await sessions.cursor("agent.audit.jsonl"), /:1$/));
  await sessions.type("policy.rego", "longest := 20", "longest := 200");
  await sessions.says("2 calls decided as recorded");
});

visitSessions("audit", "more access than recorded is amber, and stands before less access", async (sessions) => {
  await sessions.says("6 calls decided as recorded");
  await sessions.type("agents.md", "      - delete_ticket", "      - delete_page");
  await sessions.says("1 of 6 calls decided otherwise");
  const headings = sessions.root.locator(".logged h3");
  await sessions.has(headings, ["More access than recorded"]);
  await sessions.has(sessions.calls, [/delete_ticket.* was refused, now /]);
  assert.match(String(await sessions.headline.getAttribute("class")), /\bcaution\b/);
  await sessions.show("policy.rego");
  await sessions.paste("policy.rego", POLICY);
  await sessions.says("3 of 6 calls decided otherwise");
  await sessions.has(headings, ["More access than recorded", "Less access than recorded"]);
  await sessions.has(sessions.root.locator(".facts"), [/^1 with more access · 2 with less access · /]);
  // Less access alone is neutral: neither wrong nor right.
  await sessions.type("agents.md", "      - delete_page", "      - delete_ticket");
  await sessions.says("2 of 6 calls decided otherwise");
  assert.match(String(await sessions.headline.getAttribute("class")), /\bneutral\b/);
});

visitSessions("audit", "a log that was changed is refused, and one that can't be read says where", async (sessions) => {
  await sessions.says("6 calls decided as recorded");
  await sessions.example("Another policy");
  await sessions.says("2 of 6 calls decided otherwise");
  await sessions.example("A record that was changed");
  await sessions.says("This log is not the one that a session wrote");
  await sessions.has(sessions.problems.locator(".code"), ["AUDIT_CHANGED"]);
  await sessions.paste("agent.audit.jsonl", `${LOG.split("\n")[0]}\nnot a record\n`);
  await sessions.has(sessions.problems.locator(".code"), ["AUDIT_INVALID"]);
  await sessions.paste("agent.audit.jsonl", "");
  await sessions.root.getByText("There is no log.").waitFor();
  await sessions.click("Take the log of the example");
  await sessions.says("6 calls decided as recorded");
});

visitSessions("audit", "a leak is refused under a rule, and the earlier call that decides is shown", async (sessions) => {
  await sessions.example("A leak that a rule stops");
  await sessions.says("1 of 3 calls decided otherwise");
  await sessions.root.getByRole("heading", { name: "Less access than recorded" }).waitFor();
  const earlier = sessions.calls.locator(".earlier li");
  await sessions.has(earlier, [/^record \d+: read_inbox of acme-mail returned data that is private · .*agent\.audit\.jsonl:\d+:1$/]);
  const [, line] = /** @type {RegExpExecArray} */ (/record (\d+)/.exec(await earlier.innerText()));
  await earlier.getByRole("button").click();
  await eventually(async () => assert.equal(await sessions.cursor("agent.audit.jsonl"), `${line}:1`));
  // Another label is another rule: typing decides again.
  await sessions.type("tenant.yaml", "label: private", "label: secret");
  await sessions.says("3 calls decided as recorded");
});

visitSessions("session", "the history of calls decides, and is shown with its labels", async (sessions) => {
  const rows = sessions.root.locator(".history tbody tr");
  assert.equal(await sessions.root.locator(".history").count(), 0);
  await sessions.example("Private mail, then a post");
  await sessions.decides("Passed on");
  await sessions.has(sessions.root.locator(".decision .facts"), ["It returns data that is private"]);
  await sessions.root.getByText("No call was passed on yet.").waitFor();
  await sessions.click("Make this call");
  await sessions.has(rows, [/read_inbox of acme-mail\s*private$/]);
  await sessions.click("Call publish");
  await sessions.decides("Refused");
  await sessions.has(rows.and(sessions.root.locator(".no")), [/read_inbox of acme-mail decides\s*private$/]);
});

visitSessions("session", "documents that can't be obeyed are reported, and a lock is obeyed in their place", async (sessions, { page }) => {
  await page.getByText("The lock that agents.md resolves to").click();
  const viewer = sessions.root.locator(".raw[open] .cm-content");
  const lock = await viewer.evaluate((content) => content.cmTile.root.view.state.doc.toString());
  await sessions.type("agents.md", "category: wiki", "category: maps");
  await sessions.says("No session: these documents can't be obeyed");
  await sessions.has(sessions.root.locator(".unsatisfied .code"), ["UNSATISFIED"]);
  await sessions.root.locator(".unsatisfied", { hasText: "`maps`".replaceAll("`", "") }).waitFor();
  await sessions.paste("agents.lock", lock);
  await sessions.decides("A human must approve it");
});

visit("the documents of the area about servers are taken over, and that can be undone", async ({ page, playground }) => {
  await playground.type("agents.md", "internal", "public");
  await playground.verdict();
  const manifest = await playground.text("agents.md");
  // The browser keeps the texts after a pause.
  await eventually(async () => assert.ok(await page.evaluate(() => Object.values(localStorage).some((kept) => kept.includes("sensitivity: public")))));
  const sessions = new Sessions(page);
  await sessions.area("Session");
  await sessions.decides("A human must approve it");
  await sessions.press("From Servers");
  await sessions.noticeIs("Took the documents");
  await eventually(async () => assert.equal(await sessions.text("agents.md"), manifest));
  await sessions.decides("An error of the protocol");
  await sessions.notice.getByRole("button", { name: "Undo" }).click();
  await sessions.decides("A human must approve it");
});

visitSessions("session", "the first example of the servers is taken where they were not seen", async (sessions) => {
  await sessions.decides("A human must approve it");
  await sessions.press("From Servers");
  await sessions.noticeIs("Took the first example");
  await eventually(async () => assert.match(await sessions.text("agents.md"), /^name: desk-assistant$/m));
  assert.match(await sessions.text("mcp.index.json"), /mail-eu/);
}, { example: "" });

visitSessions("session", "a session survives a link and a reload", async (sessions, { page, another }) => {
  await sessions.click("Make this call");
  await sessions.press("Share");
  const link = await sessions.dialog.getByLabel("Link").inputValue();
  assert.match(link, /#session\./);
  const other = await another({ fragment: link.split("#")[1], wait: false });
  const there = new Sessions(other.page);
  await there.has(there.past, [/^Call 1 of reply/]);
  await page.keyboard.press("Escape");
  await sessions.type("tools-call.json", "T-1042", "T-7");
  await sessions.settled();
  await sessions.click("Approve");
  await sessions.past.nth(1).waitFor();
  await page.reload();
  await sessions.past.nth(1).waitFor();
  await sessions.has(sessions.past.first(), [/^Call 1 of reply/]);
  assert.match(await sessions.text("tools-call.json"), /T-7/);
});

visitSessions("session", "the keyboard alone makes a call and approves it", async (sessions, { page }) => {
  await sessions.root.locator("#session-answer").focus();
  await tabTo(page, "Make this call");
  await page.keyboard.press("Enter");
  await sessions.past.first().waitFor();
  await sessions.settled();
  await tabTo(page, "Approve");
  await page.keyboard.press("Enter");
  await sessions.past.nth(1).waitFor();
  await sessions.settled();
  await tabTo(page, "find_tickets");
  await page.keyboard.press("Enter");
  await sessions.tool("find_tickets").locator("pre").waitFor();
});

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  visitSessions("session", `axe finds no serious violation (${colorScheme})`, async (sessions, { page }) => {
    await page.evaluate(axe.source);
    const found = [];
    const look = async (/** @type {string} */ state) => {
      for (const violation of await violations(page)) found.push(`${state}: ${violation}`);
    };
    await look("a question");
    await sessions.click("Make this call");
    await sessions.past.getByText("2 arguments").click();
    await look("what waits");
    await sessions.click("Approve");
    await sessions.root.locator(".client summary").click();
    await look("an open call");
    await sessions.example("A tool that the lock forbids");
    await look("a refusal");
    await sessions.example("An argument above the maximum");
    await look("a refused argument");
    await sessions.area("Audit");
    await sessions.example("Another policy");
    await look("a log");
    assert.deepEqual(found, []);
  }, { browser: { colorScheme } });
}

visitSessions("session", "at 360 × 740 nothing scrolls sideways", async (sessions, { page }) => {
  await fits(page, "a question");
  await sessions.click("Make this call");
  await sessions.past.getByText("2 arguments").click();
  await fits(page, "what waits");
  await sessions.click("Approve");
  await sessions.root.locator(".client summary").click();
  await sessions.tool("search_pages").getByRole("button", { name: "search_pages", exact: true }).click();
  await fits(page, "an open call");
  await sessions.example("A helper expands two tools");
  const parts = page.getByRole("navigation", { name: "Parts of the page" });
  await parts.getByRole("button", { name: "Answer" }).tap();
  await fits(page, "an expansion");
  await sessions.area("Audit");
  await sessions.example("Another policy");
  await parts.getByRole("button", { name: "Answer" }).tap();
  await fits(page, "a log");
}, { browser: PHONE });

visitSessions("session", "hostile texts stay texts", async (sessions, { page }) => {
  const hostile = "<img src=x onerror=\"window.ran='img'\">";
  const unseen = `${hostile}\u202egpj.exe`;
  const index = JSON.parse(await sessions.text("mcp.index.json"));
  const { tools } = index.servers[0].capabilities;
  tools.find_tickets.description = `${hostile} \`${hostile}\` ${"x".repeat(5_000)}`;
  await sessions.paste("mcp.index.json", JSON.stringify(index));
  await sessions.root.locator(".about", { hasText: "onerror" }).waitFor();
  await sessions.paste("tools-call.json", JSON.stringify({ name: unseen, arguments: {} }));
  await sessions.decides("An error of the protocol");
  await sessions.click("Make this call");
  await sessions.past.first().waitFor();
  assert.match(await sessions.past.first().innerText(), /<U\+202E>/);
  await fits(page, "hostile texts");
  // A definition with hidden characters is not locked.
  tools.find_tickets.description = unseen;
  await sessions.paste("mcp.index.json", JSON.stringify(index));
  await sessions.problems.locator(".problem", { hasText: "INVISIBLE_CHARACTER" }).first().waitFor();
  await sessions.tool("find_tickets").getByText("not in the lock").waitFor();
  assert.equal(await page.evaluate(() => window["ran"]), undefined);
});

visitSessions("audit", "20 MB of a log neither freeze the page nor spoil it", async (sessions, { page }) => {
  // When it counts as hung: a loaded machine takes its time.
  page.setDefaultTimeout(120_000);
  await sessions.paste("agent.audit.jsonl", LOG.repeat(Math.ceil((20 << 20) / LOG.length)));
  await eventually(async () => {
    assert.equal(await sessions.root.locator("#session-answer").getAttribute("aria-busy"), "false");
    assert.ok((await sessions.problems.count()) > 0 || (await sessions.headline.count()) > 0);
  }, 120_000);
  await sessions.paste("agent.audit.jsonl", LOG);
  await sessions.says("6 calls decided as recorded");
});

visit("after the first look at sessions they work without the server", async ({ page, playground, stopServer }) => {
  await stored(page);
  await page.reload();
  await playground.verdict();
  const sessions = new Sessions(page);
  await sessions.area("Session");
  await sessions.decides("A human must approve it");
  await stopServer();
  await page.reload();
  await sessions.decides("A human must approve it");
  await sessions.click("Make this call");
  await sessions.past.first().waitFor();
}, {
  browser: { serviceWorkers: "allow" },
  expected: [/^console: Failed to load resource: net::ERR_CONNECTION_REFUSED$/],
});

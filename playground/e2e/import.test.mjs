// Configurations of clients and other documents: recognised, imported into the index, and kept nowhere.

import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";
import { INDEX, MANIFEST } from "./hello.mjs";
import { stored, visit } from "./visit.mjs";

/** @import { Page } from "playwright-core" */
/** @import { Playground } from "./playground.mjs" */

/** No place that outlives the import may have this. */
const CANARY = "canary-of-the-import";

/** A configuration as VS Code has it. */
const CLIENT = `{
  // for work
  "servers": {
    "github": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github@2025.4.8", "--token=${CANARY}-1"],
      "env": { "GITHUB_TOKEN": "${CANARY}-2" },
    },
  }
}
`;

const CODEX = `model = "a"

[mcp_servers.github]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-github"]
env = { GITHUB_TOKEN = "${CANARY}-3" }
`;

/** @param {Page} page @returns {Promise<string>} the inputs that the browser keeps */
const inputs = (page) => page.evaluate(() => JSON.stringify([localStorage, sessionStorage]));

/** @param {Page} page @returns {Promise<string>} everything that the browser keeps for the page */
function kept(page) {
  return page.evaluate(async () => {
    const texts = [JSON.stringify([localStorage, sessionStorage])];
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const request of await cache.keys()) texts.push(request.url, await (await cache.match(request)).text());
    }
    /** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
    const done = (request) =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    for (const { name } of await indexedDB.databases()) {
      const database = await done(indexedDB.open(String(name)));
      for (const store of database.objectStoreNames) {
        texts.push(JSON.stringify(await done(database.transaction(store).objectStore(store).getAll())));
      }
      database.close();
    }
    return texts.join("\n");
  });
}

/** @param {Page} page @returns {Promise<string>} its address, its elements, the values of its fields, and the texts of its editors */
async function seen(page) {
  const shown = await page.evaluate(() => {
    const editors = [...document.querySelectorAll(".cm-content")].map((it) => it.cmTile.root.view.state.doc.toString());
    const fields = [...document.querySelectorAll("input")].map((it) => it.value);
    return [document.documentElement.outerHTML, ...editors, ...fields].join("\n");
  });
  return `${page.url()}\n${shown}`;
}

/** @param {Playground} playground */
const bar = (playground) => playground.root.getByRole("region", { name: "Import" });

/** @param {Playground} playground @param {string} name */
const button = (playground, name) => bar(playground).getByRole("button", { name, exact: true });

/** @param {Playground} playground has a document that is the visitor's, so that no example gives way */
const edit = (playground) => playground.type("agents.md", "version: 1.0.0", "version: 1.0.1");

/** @param {Playground} playground @param {import("./playground.mjs").InputName} name @param {string} text that comes from the clipboard */
async function pasteInto(playground, name, text) {
  await playground.input(name).evaluate((content, text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    content.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

visit("one paste replaces an example by the visitor's servers, and can be undone", async ({ playground, page }) => {
  await stored(page);
  await playground.root.getByRole("button", { name: "Paste your own configuration" }).click();
  await eventually(async () => assert.equal(await playground.input("import").evaluate((it) => it === document.activeElement), true));
  await pasteInto(playground, "import", CLIENT);
  await playground.noticeIs("Imported 1 server; its tools are unknown: paste an answer to tools/list to add them");
  await playground.says("Every requirement has a server");
  await playground.has(playground.cards.locator("h3"), [/github$/]);
  const index = JSON.parse(await playground.text("mcp.index.json"));
  assert.deepEqual(index.servers.map((/** @type {{ id: string }} */ { id }) => id), ["github"]);
  assert.match(await playground.text("agents.md"), /category: github/);
  await eventually(async () => assert.match(await inputs(page), /server-github/));
  for (const text of [await kept(page), await seen(page)]) assert.doesNotMatch(text, new RegExp(CANARY));
  await playground.notice.getByRole("button", { name: "Undo" }).click();
  await playground.says("hello-agent may use 2 of 4 servers");
  assert.equal(await playground.text("agents.md"), MANIFEST);
  assert.equal(await playground.text("mcp.index.json"), INDEX);
}, { browser: { serviceWorkers: "allow" } });

visit("what a configuration does not say is asked, and one press answers and imports", async ({ playground }) => {
  const other = CODEX.slice(CODEX.indexOf("[")).replace("mcp_servers.github", "mcp_servers.github-2");
  await pasteInto(playground, "mcp.index.json", CODEX + other);
  const fields = bar(playground).getByRole("textbox");
  await playground.has(bar(playground).locator(".import-questions label"), [/^version of github$/, /^version of github-2$/]);
  await fields.nth(0).fill(' 1.0"0 ');
  await button(playground, "Answer, and import").click();
  // A wrong answer is a problem of the overlay, and the other question is still open.
  await bar(playground).getByText("overlay.yaml:").first().waitFor();
  await playground.has(bar(playground).locator(".import-questions label"), [/^version of github-2$/]);
  assert.match(await playground.text("overlay.yaml"), /"1\.0\\"0"/);
  await playground.type("overlay.yaml", '1.0\\"0', "2025.4.8");
  await fields.fill("2025.4.9");
  await fields.press("Enter");
  await playground.noticeIs("Imported 2 servers; the tools of 2 are unknown");
  assert.match(await playground.text("mcp.index.json"), /server-github@2025\.4\.8[^]*server-github@2025\.4\.9/);
  assert.doesNotMatch(await playground.text("mcp.index.json"), /acme-audiences/);
  await playground.has(playground.cards.locator("h3"), [/github$/, /github-2$/]);
});

visit("a configuration that is pasted into agents.md is imported too", async ({ playground }) => {
  await pasteInto(playground, "agents.md", CLIENT);
  await playground.noticeIs("Imported 1 server");
  assert.match(await playground.text("agents.md"), /category: github/);
});

visit("prose that names a client's key stays in agents.md", async ({ playground }) => {
  const prose = `---\nname: a\n---\nPaste this:\n\n\`\`\`json\n"mcpServers": {}\n\`\`\`\n`;
  await playground.paste("agents.md", prose);
  assert.equal(await playground.text("agents.md"), prose);
  assert.equal(await bar(playground).isVisible(), false);
});

visit("a pasted configuration is imported, and its secrets are kept nowhere", async ({ playground, page, another }) => {
  await edit(playground);
  await stored(page);
  /** @type {string[]} */
  const loaded = [];
  page.context().on("request", (request) => {
    if (request.url().includes("/engine/import/")) loaded.push(request.url());
  });
  await playground.paste("mcp.index.json", CLIENT);
  await bar(playground).getByText("This is the configuration of a client, with 1 server: new github@2025.4.8.").waitFor();
  assert.ok(loaded.length > 0);
  assert.equal(await playground.text("mcp.index.json"), INDEX);
  assert.equal(await playground.text("import"), CLIENT);

  // Before the import too, whatever else is kept or shared.
  await playground.type("agents.md", "hello-agent", "other-agent");
  await eventually(async () => assert.match(await inputs(page), /other-agent/));
  assert.doesNotMatch(await kept(page), new RegExp(CANARY));
  await playground.press("Share");
  const link = await playground.dialog.getByLabel("Link").inputValue();
  await page.keyboard.press("Escape");
  const other = await another({ fragment: link.split("#")[1] });
  assert.match(await seen(other.page), /other-agent/);
  assert.doesNotMatch(await seen(other.page), new RegExp(CANARY));

  await button(playground, "Import").click();
  await playground.noticeIs("Imported 1 server");
  await playground.answer.getByText("5 servers in the index").waitFor();
  const index = JSON.parse(await playground.text("mcp.index.json"));
  assert.deepEqual(index.servers.map((/** @type {{ id: string }} */ { id }) => id).includes("github"), true);
  assert.ok(index.servers.find((/** @type {{ id: string }} */ { id }) => id === "github")["x-unrated"]);
  await eventually(async () => assert.match(await inputs(page), /server-github/));
  for (const text of [await kept(page), await seen(page)]) assert.doesNotMatch(text, new RegExp(CANARY));
  await page.keyboard.press("Control+z");
  assert.doesNotMatch(await seen(page), new RegExp(CANARY));
  await page.reload();
  await playground.verdict();
  for (const text of [await kept(page), await seen(page)]) assert.doesNotMatch(text, new RegExp(CANARY));
}, { browser: { serviceWorkers: "allow" } });

visit("a configuration that is pasted behind the index is imported by the keyboard alone", async ({ playground, page }) => {
  await edit(playground);
  await playground.show("mcp.index.json");
  await playground.input("mcp.index.json").evaluate((content, text) => {
    const { view } = content.cmTile.root;
    view.focus();
    view.dispatch({ selection: { anchor: view.state.doc.length } });
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", text);
    content.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, CLIENT);
  await button(playground, "Import").waitFor();
  assert.equal(await playground.text("mcp.index.json"), INDEX);
  await eventually(async () => assert.equal(await playground.input("import").evaluate((it) => it === document.activeElement), true));
  for (let each = 0; each < 12; each++) {
    await page.keyboard.press("Shift+Tab");
    if (await button(playground, "Import").evaluate((it) => it === document.activeElement)) break;
  }
  await page.keyboard.press("Enter");
  await playground.noticeIs("Imported 1 server");
  await eventually(async () => assert.equal(await playground.input("mcp.index.json").evaluate((it) => it === document.activeElement), true));
  await playground.notice.getByRole("button", { name: "Undo" }).click();
  assert.equal(await playground.text("mcp.index.json"), INDEX);
});

visit("a file with errors shows their places, and an overlay completes it", async ({ playground, page }) => {
  await edit(playground);
  await playground.show("mcp.index.json");
  await page.evaluate((text) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], "config.toml"));
    const target = document.querySelector('#servers .cm-content[aria-label="mcp.index.json"]');
    for (const type of ["dragenter", "dragover", "drop"]) {
      target.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
    }
  }, CODEX);
  await bar(playground).getByText("MISSING_FIELD").waitFor();
  assert.equal(await playground.text("mcp.index.json"), INDEX);
  assert.equal(await button(playground, "Import").count(), 0);
  await bar(playground).getByRole("button", { name: "import:3:14" }).click();
  await eventually(async () => assert.equal(await playground.cursor("import"), "3:14"));
  await bar(playground).getByRole("button", { name: "Apply" }).click();
  await playground.type("overlay.yaml", "<version>", "2025.4.8");
  await button(playground, "Import").click();
  await playground.noticeIs("Imported 1 server");
  assert.match(await playground.text("mcp.index.json"), /server-github@2025\.4\.8/);
  assert.equal(await playground.text("import"), "");
  assert.equal(await playground.text("overlay.yaml"), "");
});

visit("a typed document moves, too, and a discarded one is gone", async ({ playground, page }) => {
  await playground.paste("mcp.index.json", "");
  await playground.input("mcp.index.json").focus();
  await page.keyboard.type('{"mcpServers": {');
  await bar(playground).getByText("with 1 error").waitFor();
  assert.match(await playground.text("import"), /^\{"mcpServers":/);
  await button(playground, "Discard").click();
  assert.equal(await playground.text("import"), "");
  assert.equal(await bar(playground).isVisible(), false);
  assert.equal(await playground.root.locator("button.input-name", { hasText: "import" }).count(), 0);
});

visit("without a manifest, the import drafts one", async ({ playground }) => {
  await playground.paste("agents.md", "");
  await playground.paste("mcp.index.json", CLIENT);
  await button(playground, "Import, and draft agents.md").click();
  await playground.says("Every requirement has a server");
  assert.match(await playground.text("agents.md"), /category: github/);
  assert.notEqual(await playground.text("agents.md"), MANIFEST);
});

visit("a page without the importer keeps everything, and tries again", async ({ playground, page }) => {
  await edit(playground);
  await page.context().route("**/engine/import/**", (route) => route.abort());
  await playground.paste("mcp.index.json", CLIENT);
  await bar(playground).getByText("There is no import").waitFor();
  await page.context().unroute("**/engine/import/**");
  await button(playground, "Try again").click();
  await button(playground, "Import").waitFor();
}, { expected: [/net::ERR_FAILED/] });

visit("a wait for the importer has words, seconds and a button that ends it", async ({ playground, page }) => {
  await edit(playground);
  /** @type {import("playwright-core").Route[]} */
  const held = [];
  await page.context().route("**/engine/import/*.wasm", (route) => void held.push(route));
  await playground.paste("mcp.index.json", CLIENT);
  await bar(playground).getByText("Loading the importer…").waitFor();
  await bar(playground).getByText(/^[2-9] s$/).waitFor();
  await button(playground, "Stop").click();
  await bar(playground).getByText("There is no import: the importer was stopped.").waitFor();
  assert.equal(await button(playground, "Stop").count(), 0);
  assert.equal(await playground.text("import"), CLIENT);
  await page.context().unroute("**/engine/import/*.wasm");
  // A request of a worker that has ended can't be answered.
  for (const route of held) await route.abort().catch(() => {});
  await button(playground, "Try again").click();
  await button(playground, "Import").waitFor();
}, { expected: [/net::ERR_FAILED/] });

const CAPTURE = JSON.stringify({
  initialize: { protocolVersion: "2025-11-25", serverInfo: { name: "github", version: "2025.4.8" }, capabilities: {} },
  "tools/list": { tools: [{ name: "read_file", description: "Reads a file.", inputSchema: { type: "object" } }] },
});

visit("a card says what an import did not find, until a capture says it", async ({ playground, page }) => {
  await playground.root.getByRole("button", { name: "Paste your own configuration" }).click();
  await pasteInto(playground, "import", CLIENT);
  const card = playground.card("github");
  await card.getByText("Not known: how its data is rated, and its tools").waitFor();
  await playground.show("mcp.index.json");
  await pasteInto(playground, "mcp.index.json", CAPTURE);
  await bar(playground).getByText("1 server").first().waitFor();
  await button(playground, "Import").click();
  await playground.noticeIs("Imported 1 server");
  await card.getByText(/^Not known: how its data is rated$/).waitFor();
  assert.match(await playground.text("mcp.index.json"), /"read_file"/);
  await page.locator(".facts", { hasText: "1 server with 1 tool in the index" }).waitFor();
});

visit("a configuration whose servers come behind a long history is not kept either", async ({ playground, page }) => {
  const servers = `"mcpServers": { "github": { "command": "npx", "env": { "TOKEN": "${CANARY}-4" } } }`;
  const text = `{ "history": "${"x".repeat(1 << 20)}", ${servers} }`;
  // It arrives as an edit, not by a paste, which is read as a whole.
  await playground.input("mcp.index.json").evaluate((content, text) => {
    const { view } = content.cmTile.root;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, userEvent: "input.type" });
  }, text);
  await eventually(async () => assert.equal(await playground.text("import"), text));
  assert.equal(await playground.text("mcp.index.json"), INDEX);
  await playground.type("agents.md", "hello-agent", "other-agent");
  await eventually(async () => assert.match(await kept(page), /other-agent/));
  assert.doesNotMatch(await kept(page), new RegExp(CANARY));
});

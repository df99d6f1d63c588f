import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";
import { INDEX, LOCK, MANIFEST } from "./hello.mjs";
import { INDEX as LARGE } from "./large.mjs";
import { Playground } from "./playground.mjs";
import { visit } from "./visit.mjs";

/** @param {import("playwright-core").Page} page @returns {Promise<string>} all that the browser keeps of the inputs */
const kept = (page) => page.evaluate(() => Object.entries(localStorage).filter(([key]) => key.startsWith("agent-playground/servers")).flat().join("\n"));

/** @param {Playground} playground @returns the buttons of the dialog with recent inputs */
async function recent(playground) {
  await playground.press("Recent");
  return playground.dialog.locator(".example");
}

visit("typed texts survive a reload, and a reset can be undone", async ({ playground, page }) => {
  await playground.type("agents.md", "internal", "confidential");
  await playground.paste("agents.lock", LOCK);
  // Without a pause, the page stores them when it is left.
  await page.reload();
  await playground.says("Not every requirement has a server");
  const edited = MANIFEST.replace("internal", "confidential");
  assert.equal(await playground.text("agents.md"), edited);
  assert.equal(await playground.text("mcp.index.json"), INDEX);
  await playground.show("agents.lock");
  assert.equal(await playground.text("agents.lock"), LOCK);

  await playground.press("Reset");
  await playground.noticeIs("Reset to the first example");
  await playground.says("Every requirement has a server");
  assert.equal(await playground.text("agents.md"), MANIFEST);
  assert.equal(await playground.text("agents.lock"), "");
  await playground.notice.getByRole("button", { name: "Undo" }).click();
  await playground.says("Not every requirement has a server");
  assert.equal(await playground.text("agents.md"), edited);
  assert.equal(await playground.text("agents.lock"), LOCK);

  await playground.press("Reset");
  await playground.says("Every requirement has a server");
  await page.reload();
  await playground.says("Every requirement has a server");
  assert.equal(await playground.text("agents.md"), MANIFEST);
}, { browser: { serviceWorkers: "allow" } });

visit("inputs that an example replaces can be opened again, until they are deleted", async ({ playground, page }) => {
  await playground.type("agents.md", "internal", "confidential");
  await playground.says("Not every requirement has a server");
  const edited = await playground.text("agents.md");
  await playground.example("A permission too many");
  await playground.example("A policy in Rego");

  const items = await recent(playground);
  await playground.has(items, [/^name: hello-agent /]);
  await items.click();
  await playground.noticeIs("Opened recent inputs");
  await playground.says("Not every requirement has a server");
  assert.equal(await playground.text("agents.md"), edited);

  await playground.press("Reset");
  await playground.has(await recent(playground), [/^name: hello-agent /]);
  await playground.dialog.getByRole("button", { name: "Delete all" }).click();
  await playground.dialog.getByText("will be listed here").waitFor();
  assert.ok(!(await kept(page)).includes("sensitivity: confidential"));
});

visit("the last ten inputs are kept", async ({ playground }) => {
  for (let each = 0; each < 12; each++) {
    await playground.type("agents.md", "hello", `name${each}`);
    await playground.press("Reset");
    await playground.noticeIs("Reset to the first example");
  }
  const titles = Array.from({ length: 10 }, (_, at) => new RegExp(`^name: name${11 - at}-agent `));
  await playground.has(await recent(playground), titles);
});

visit("two tabs keep their own inputs", async ({ playground, page, context, address }) => {
  await playground.type("agents.md", "hello", "first");
  await eventually(async () => assert.ok((await kept(page)).includes("first-agent")));
  const other = await context.newPage();
  await other.goto(address);
  const second = new Playground(other);
  await second.verdict();
  // It begins with the latest inputs, as a copy.
  assert.match(await second.text("agents.md"), /^name: first-agent$/m);
  await second.type("agents.md", "first", "second");
  await eventually(async () => assert.ok((await kept(other)).includes("second-agent")));
  await playground.type("agents.md", "first", "changed");
  await page.reload();
  await playground.verdict();
  assert.match(await playground.text("agents.md"), /^name: changed-agent$/m);
  await other.reload();
  await second.verdict();
  assert.match(await second.text("agents.md"), /^name: second-agent$/m);
  await playground.has(await recent(playground), [/^name: second-agent /]);
});

visit("unreadable stored texts are ignored", async ({ playground, page }) => {
  for (const broken of ["{", "[]", '{"manifest": 1}', ""]) {
    await page.evaluate((text) => {
      sessionStorage.clear();
      localStorage.setItem("agent-playground/servers", "broken 0\n");
      localStorage.setItem("agent-playground/servers/broken", text);
    }, broken);
    await page.reload();
    await playground.says("Every requirement has a server");
    assert.equal(await playground.text("agents.md"), MANIFEST);
  }
});

visit("inputs of any size survive a reload, and give way to small ones", async ({ playground, page }) => {
  await playground.paste("mcp.index.json", LARGE);
  await page.locator(".facts", { hasText: "10,000 servers in the index" }).waitFor();
  await eventually(async () => assert.match(await kept(page), /^agent-playground\/servers\n\w+ \d+\n$/));
  await page.reload();
  await page.locator(".facts", { hasText: "10,000 servers in the index" }).waitFor();
  assert.equal((await playground.text("mcp.index.json")).length, LARGE.length);
  await playground.paste("mcp.index.json", "[]");
  await eventually(async () => assert.ok((await kept(page)).includes('"index":"[]"')));
  await page.reload();
  await playground.says("Not every requirement has a server");
  assert.equal(await playground.text("mcp.index.json"), "[]");
});

visit("storage that is full is called that", async ({ playground, page }) => {
  await page.addInitScript(() => {
    Storage.prototype.setItem = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
  });
  await page.reload();
  await playground.verdict();
  await playground.type("agents.md", "internal", "confidential");
  await playground.noticeIs("These inputs are not kept, because the storage of the browser is full: save them as files");
});

visit("a page without storage works", async ({ playground, page }) => {
  await page.addInitScript(() => {
    Object.defineProperty(window, "localStorage", {
      get() {
        throw new DOMException("forbidden", "SecurityError");
      },
    });
  });
  await page.reload();
  await playground.says("Every requirement has a server");
  await playground.type("agents.md", "internal", "confidential");
  await playground.says("Not every requirement has a server");
  await playground.noticeIs("These inputs are not kept, because the browser forbids storage here");
});

visit("inputs that only a database could keep, where the browser forbids it, are called not kept", async ({ playground, page }) => {
  await page.addInitScript(() => {
    Object.defineProperty(window, "indexedDB", {
      get() {
        throw new DOMException("forbidden", "SecurityError");
      },
    });
  });
  await page.reload();
  await playground.verdict();
  await playground.paste("mcp.index.json", LARGE);
  await page.locator(".facts", { hasText: "10,000 servers in the index" }).waitFor();
  await playground.noticeIs("These inputs are not kept, because the browser forbids storage here: save them as files");
});

visit("the theme goes from that of the system to light to dark, and is kept", async ({ playground, page }) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await ground();
  assert.notEqual(light, dark);

  await playground.press("Theme: system");
  await eventually(async () => assert.equal(await ground(), light));
  await playground.press("Theme: light");
  await page.emulateMedia({ colorScheme: "light" });
  await eventually(async () => assert.equal(await ground(), dark));
  await page.reload();
  await playground.verdict();
  assert.equal(await ground(), dark);
  assert.equal(await page.locator(".cm-editor").first().evaluate((editor) => getComputedStyle(editor).colorScheme), "dark");
  await playground.press("Theme: dark");
  await eventually(async () => assert.equal(await ground(), light));
});

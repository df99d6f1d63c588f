import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";
import { INDEX, LOCK, MANIFEST } from "./hello.mjs";
import { visit } from "./visit.mjs";

/** @param {import("playwright-core").Page} page @returns {Promise<string>} what the browser keeps */
const kept = (page) => page.evaluate(() => localStorage.getItem("agent-playground/texts") ?? "");

visit("typed texts survive a reload, until a reset", async ({ playground, page }) => {
  await playground.type("agents.md", "internal", "confidential");
  await playground.paste("agents.lock", LOCK);
  await eventually(async () => {
    const texts = await kept(page);
    assert.ok(texts.includes("confidential") && texts.includes("lockVersion"));
  });
  await page.reload();
  await playground.says("Not every requirement has a server");
  assert.equal(await playground.text("agents.md"), MANIFEST.replace("internal", "confidential"));
  assert.equal(await playground.text("mcp.index.json"), INDEX);
  await playground.show("agents.lock");
  assert.equal(await playground.text("agents.lock"), LOCK);

  await playground.press("Reset");
  await playground.says("Every requirement has a server");
  assert.equal(await playground.text("agents.md"), MANIFEST);
  assert.equal(await playground.text("agents.lock"), "");
  await page.reload();
  await playground.says("Every requirement has a server");
  assert.equal(await playground.text("agents.md"), MANIFEST);
}, { browser: { serviceWorkers: "allow" } });

visit("unreadable stored texts are ignored", async ({ playground, page }) => {
  for (const broken of ["{", "[]", '{"manifest": 1}', ""]) {
    await page.evaluate((text) => localStorage.setItem("agent-playground/texts", text), broken);
    await page.reload();
    await playground.says("Every requirement has a server");
    assert.equal(await playground.text("agents.md"), MANIFEST);
  }
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
});

visit("the theme goes from that of the system to light to dark, and is kept", async ({ playground, page }) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const button = page.getByRole("button", { name: /^Theme/ });
  const light = await ground();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await ground();
  assert.notEqual(light, dark);

  await button.and(page.getByLabel("Theme: system")).click();
  await button.and(page.getByLabel("Theme: light")).waitFor();
  assert.equal(await ground(), light);
  await button.click();
  await button.and(page.getByLabel("Theme: dark")).waitFor();
  await page.emulateMedia({ colorScheme: "light" });
  assert.equal(await ground(), dark);
  await page.reload();
  await playground.verdict();
  assert.equal(await ground(), dark);
  assert.equal(await page.locator(".cm-editor").first().evaluate((editor) => getComputedStyle(editor).colorScheme), "dark");
  await button.click();
  await button.and(page.getByLabel("Theme: system")).waitFor();
  assert.equal(await ground(), light);
});

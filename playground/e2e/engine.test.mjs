import assert from "node:assert/strict";
import { takeTimes } from "./measure.mjs";
import { visit } from "./visit.mjs";

visit("an engine that stops is reported, and started again with the next change", async ({ playground, page }) => {
  await takeTimes(page);
  await page.reload();
  await playground.verdict();
  await page.evaluate(() => {
    window.first = window.engineWorker;
    window.first.postMessage("nonsense");
  });
  const alert = page.getByRole("alert").filter({ hasText: "Your inputs are safe" });
  await alert.waitFor();
  await playground.type("agents.md", "internal", "confidential");
  await playground.says("Not every requirement has a server");
  await alert.waitFor({ state: "detached" });
  assert.ok(await page.evaluate(() => window.engineWorker !== window.first), "it is the same worker");
  assert.match(await playground.text("agents.md"), /confidential/);
});

visit("an engine that does not answer is stopped after a minute, and started again", async ({ playground, page }) => {
  await page.clock.install();
  await takeTimes(page);
  await page.reload();
  await playground.verdict();
  await page.evaluate(() => window.engineWorker.terminate());
  await playground.type("agents.md", "internal", "confidential");
  await page.clock.fastForward(61_000);
  await playground.says("Not every requirement has a server");
});

visit("an engine that can't be loaded is reported", async ({ playground, page, context }) => {
  await context.route("**/engine/worker.js", (route) => route.abort());
  await page.reload();
  await page.getByRole("alert").filter({ hasText: "These inputs are undecided: the engine can't be loaded" }).waitFor();
  await context.unroute("**/engine/worker.js");
  await page.getByRole("button", { name: "Try again" }).click();
  await playground.says("Every requirement has a server");
}, { expected: [/^console: Failed to load resource: net::ERR_FAILED$/] });

visit("a wait has words, and can be ended", async ({ playground, page }) => {
  await page.clock.install();
  await takeTimes(page);
  await page.reload();
  await playground.verdict();
  const mark = playground.headline.locator(".mark");
  assert.ok(await mark.isVisible());
  const words = page.getByText("Deciding… Below is the answer to earlier inputs.");
  assert.equal(await words.count(), 0);
  await page.evaluate(() => window.engineWorker.terminate());
  await playground.type("agents.md", "internal", "confidential");
  await page.clock.runFor(3_000);
  await words.waitFor();
  assert.equal(await words.getAttribute("aria-live"), "polite");
  await page.getByText(/^[3-9] s$/).waitFor();
  assert.ok(await mark.isHidden(), "an answer to earlier inputs has its mark");
  await playground.tabs.getByRole("tab", { name: "Matrix" }).click();
  await words.waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("alert").filter({ hasText: "These inputs are undecided: the engine was stopped" }).waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await playground.open("Verdict");
  await playground.says("Not every requirement has a server");
  assert.equal(await words.count(), 0);
});

visit("an engine that dies is called that", async ({ playground, page }) => {
  await takeTimes(page);
  await page.reload();
  await playground.verdict();
  await page.evaluate(() => window.engineWorker.dispatchEvent(new ErrorEvent("error")));
  await page.getByRole("alert").filter({ hasText: "the engine has died while it worked" }).waitFor();
});

import assert from "node:assert/strict";
import { INDEX, MANIFEST } from "./hello.mjs";
import { visit } from "./visit.mjs";

visit("other constraints are shown beside the present ones, and nothing is edited", async ({ playground, page }) => {
  await playground.open("What if");
  const rows = playground.answer.locator(".comparison tbody tr");
  assert.equal(await rows.count(), 0);

  await page.getByLabel("residency").selectOption("eu-only");
  await playground.has(rows, [
    "audiences ✓acme-audiences 2.1.0 of 2 eligible ✓beta-audiences 1.0.0 of 1 eligiblechanged",
    "reporting ✓chart-reports 3.4.1 of 1 eligible ✓chart-reports 3.4.1 of 1 eligible",
  ]);
  await page.getByText("1 of 2 verdicts would change").waitFor();

  await page.getByLabel("requireSigned").check();
  await playground.has(rows, [/✗ ?no server ?changed$/, /✓chart-reports 3\.4\.1 of 1 eligible$/]);
  await page.getByLabel("sensitivity").selectOption("pii.high");
  await page.getByText("2 of 2 verdicts would change").waitFor();

  assert.equal(await playground.text("agents.md"), MANIFEST);
  assert.equal(await playground.text("mcp.index.json"), INDEX);
  await page.getByRole("button", { name: "As in agents.md" }).click();
  await playground.has(rows, []);
  await playground.open("Verdict");
  await playground.says("Every requirement has a server");
});

import assert from "node:assert/strict";
import { INDEX, MANIFEST } from "./hello.mjs";
import { visit } from "./visit.mjs";

visit("other constraints are shown beside the present ones, and nothing is edited", async ({ playground, page }) => {
  await playground.open("What if");
  const rows = playground.answer.locator(".comparison > li");
  assert.equal(await rows.count(), 0);

  await page.getByLabel("residency").selectOption("eu-only");
  await playground.has(rows, [
    "audiences − acme-audiences 2.1.0 of 2 eligible + beta-audiences 1.0.0 of 1 eligible",
  ]);
  await playground.has(rows.locator("del"), [/^− acme-audiences/]);
  await playground.has(rows.locator("ins"), [/^\+ beta-audiences/]);
  // The others are a number.
  await page.getByText("1 of 2 verdicts would change; 1 as before").waitFor();

  await page.getByLabel("requireSigned").check();
  // Where no server is left, the nearest one has the reasons.
  await playground.has(rows, [
    /\+ no server nearest is acme-audiences 2\.1\.0 keeps data in us-only, and eu-only is required RESIDENCY_MISMATCH/,
  ]);
  await page.getByLabel("sensitivity").selectOption("pii.high");
  await page.getByText("2 of 2 verdicts would change", { exact: true }).waitFor();

  assert.equal(await playground.text("agents.md"), MANIFEST);
  assert.equal(await playground.text("mcp.index.json"), INDEX);
  await page.getByRole("button", { name: "As in agents.md" }).click();
  await playground.has(rows, []);
  await playground.open("Verdict");
  await playground.says("Every requirement has a server");
});

visit("a grid counts the satisfied requirements of every residency and sensitivity, and a cell supposes its own", async ({ playground, page }) => {
  await playground.open("What if");
  const cell = (/** @type {string} */ name) => playground.answer.getByRole("button", { name: new RegExp(`^${name}`) });
  await cell("us-only and internal: 2/2 requirements, now").waitFor();
  assert.equal(await playground.answer.locator(".counts button").count(), 4 * 7);
  await playground.has(playground.answer.locator(".counts tbody tr"), [
    /^\(none\) ✓2\/2 /, /^public /, /^internal /, /^confidential /, /^pii\.low /, /^pii\.moderate /, /^pii\.high /,
  ]);
  await cell("us-only and pii.high: 0/2").waitFor();

  await cell("eu-only and internal: 2/2").click();
  await page.getByText("1 of 2 verdicts would change").waitFor();
  assert.equal(await cell("eu-only and internal").getAttribute("aria-pressed"), "true");
  assert.equal(await page.getByLabel("residency").inputValue(), "eu-only");
  // Signatures count too.
  await page.getByLabel("requireSigned").check();
  await cell("eu-only and internal: 1/2").waitFor();
  assert.equal(await playground.text("agents.md"), MANIFEST);
});

visit("supposed constraints are adopted as one step, and less strict ones say so", async ({ playground, page }) => {
  await playground.open("What if");
  const fix = playground.answer.locator(".fix");
  await page.getByLabel("sensitivity").selectOption("confidential");
  await page.getByLabel("requireSigned").check();
  await playground.has(fix, [/^Set constraints\.data\.sensitivity to confidential and set constraints\.trust\.requireSigned to true/]);
  assert.equal(await fix.getByText("changes what is asked for or allowed").count(), 0);
  await fix.getByRole("button", { name: "Apply" }).click();
  await playground.noticeIs("Applied");
  const adopted = await playground.text("agents.md");
  assert.match(adopted, /constraints:\n {2}trust:\n {4}requireSigned: true\n {2}data:\n {4}sensitivity: confidential\n {4}residency: us-only\n/);
  await playground.settled();
  // The manifest says what was supposed.
  assert.equal(await fix.count(), 0);
  await playground.notice.getByRole("button", { name: "Undo" }).click();
  assert.equal(await playground.text("agents.md"), MANIFEST);

  await page.getByLabel("requireSigned").uncheck();
  await page.getByLabel("sensitivity").selectOption("public");
  await playground.has(fix, [/^Set constraints\.data\.sensitivity to public/]);
  await fix.getByText("changes what is asked for or allowed").waitFor();
  await playground.answer.getByText("Less strict: these constraints admit servers that those of agents.md refuse.").waitFor();
});

import assert from "node:assert/strict";
import { INDEX } from "./hello.mjs";
import { visit } from "./visit.mjs";

/** Seven servers: more than the funnel names. */
const { servers } = JSON.parse(INDEX);
const gamma = servers.find((/** @type {{ id: string }} */ { id }) => id === "gamma");
const MANY = JSON.stringify({ servers: [...servers, ...["gamma-2", "gamma-3", "gamma-4"].map((id) => ({ ...gamma, id }))] }, undefined, 2);

visit("the funnel of few servers says who was lost and why, and equal steps fold", async ({ playground, page }) => {
  const rows = playground.card("audiences").locator(".funnel li");
  await playground.has(rows, [
    "all 4",
    "category 3 left −1 held back chart-reports 3.4.1: offers only charts, reporting",
    "scopes 2 left −1 held back gamma 1.0.0: does not support write:audiences",
    "residency, sensitivity, signature 2 left",
    "selected 1",
  ]);
  await playground.has(playground.card("reporting").locator(".funnel li"), [
    "all 4",
    /^category 1 left −3 held back acme-audiences 2\.1\.0: offers only audiences beta-audiences .* gamma 1\.0\.0: offers only audiences$/,
    "scopes, residency, sensitivity, signature 1 left",
    "selected 1",
  ]);
  await rows.getByRole("button", { name: "gamma 1.0.0" }).click();
  await playground.explanation.getByRole("heading", { name: "gamma 1.0.0" }).waitFor();

  // One more than six: numbers.
  await playground.paste("mcp.index.json", MANY);
  await playground.has(rows, ["all 7", "category 6 left −1 held back", "scopes 2 left −4 held back", "residency, sensitivity, signature 2 left", "selected 1"]);
  assert.equal(await page.locator(".funnel .lost").count(), 0);
});

visit("a stage of the funnel lists the rejected candidates", async ({ playground }) => {
  await playground.paste("mcp.index.json", MANY);
  const card = playground.card("audiences");
  const scopes = card.getByRole("button", { name: "scopes 2 left −4 held back" });
  await scopes.click();
  const list = card.locator(".list");
  await list.getByRole("heading", { name: "4 servers held back: MISSING_SCOPE" }).waitFor();
  await playground.has(list.getByRole("listitem"), [/^gamma 1\.0\.0 .*write:audiences/, /^gamma-2 /, /^gamma-3 /, /^gamma-4 /]);
  assert.equal(await scopes.getAttribute("aria-expanded"), "true");
  // Nothing is lost there.
  assert.equal(await card.getByRole("button", { name: /residency/ }).count(), 0);

  await card.getByRole("button", { name: "category 6 left −1 held back" }).click();
  await playground.has(list.getByRole("listitem"), [/^chart-reports 3\.4\.1 .*reporting/]);
  await list.getByRole("button", { name: "chart-reports 3.4.1" }).click();
  await playground.explanation.getByRole("heading", { name: "chart-reports 3.4.1" }).waitFor();
  await playground.explanation.getByRole("button", { name: "Close the explanation" }).click();

  await list.getByRole("button", { name: "Close the list" }).click();
  await list.waitFor({ state: "detached" });
});

visit("the tie-break names the rule on which each lost", async ({ playground }) => {
  const card = playground.card("audiences");
  await card.getByRole("button", { name: "How the tie was broken: 2 eligible" }).click();
  await playground.has(card.locator(".list").getByRole("listitem"), [/^acme-audiences 2\.1\.0 selected$/, /^beta-audiences 1\.0\.0 lost: .*signed/]);
  assert.equal(await playground.card("reporting").getByRole("button", { name: /tie/ }).count(), 0);
});

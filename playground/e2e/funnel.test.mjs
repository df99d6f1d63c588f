import assert from "node:assert/strict";
import { visit } from "./visit.mjs";

visit("a stage of the funnel lists the rejected candidates", async ({ playground }) => {
  const card = playground.card("audiences");
  const scopes = card.getByRole("button", { name: "scopes 2 left −1 held back" });
  await scopes.click();
  const list = card.locator(".list");
  await list.getByRole("heading", { name: "1 server held back: MISSING_SCOPE" }).waitFor();
  await playground.has(list.getByRole("listitem"), [/^gamma 1\.0\.0 .*write:audiences/]);
  assert.equal(await scopes.getAttribute("aria-expanded"), "true");
  assert.ok(await card.getByRole("button", { name: "residency 2 left" }).isDisabled());

  await card.getByRole("button", { name: "category 3 left −1 held back" }).click();
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

import assert from "node:assert/strict";
import { INDEX } from "./hello.mjs";
import { visit } from "./visit.mjs";

/** Three names that look the same, and one with directions. */
const IDS = ["acme-audiences", "acme-audiences\u200b", "\u0430cme-audiences", "\u202eacme-audiences"];

visit("names that look like others are shown with code points", async ({ playground }) => {
  const index = JSON.parse(INDEX);
  const [server] = index.servers;
  index.servers = [...IDS.map((id) => ({ ...server, id })), ...index.servers.slice(1)];
  await playground.paste("mcp.index.json", JSON.stringify(index, null, 2));
  await playground.says("Every requirement has a server");
  await playground.open("Matrix");
  const names = await playground.texts(playground.answer.locator("tbody tr:not(.spacer)").getByRole("rowheader"));
  const expected = ["acme-audiences 2.1.0", "acme-audiences<U+200B> 2.1.0", "<U+0430>cme-audiences 2.1.0", "<U+202E>acme-audiences 2.1.0"];
  for (const name of expected) assert.ok(names.includes(name), `${name} among ${names.join(", ")}`);
  assert.equal(new Set(names).size, names.length);
  await playground.open("Verdict");
  const warnings = await playground.texts(playground.problems.locator(".message"));
  for (const name of ["acme-audiences<U+200B>", "<U+0430>cme-audiences", "<U+202E>acme-audiences"]) {
    assert.ok(warnings.some((text) => text.includes(`the id ${name} looks like`)), `${name} in ${warnings.join("; ")}`);
  }
  await playground.open("Matrix");

  await playground.answer.getByRole("button", { name: /^\u0430cme-audiences 2.1.0, audiences/ }).click();
  await playground.explanation.getByRole("heading", { name: "<U+0430>cme-audiences 2.1.0" }).waitFor();
});

visit("a name of one alphabet is read as it is", async ({ playground }) => {
  await playground.paste("mcp.index.json", INDEX.replaceAll("acme-audiences", "пример"));
  await playground.says("Every requirement has a server");
  await playground.card("audiences").locator(".selection .server, .over .server", { hasText: "пример" }).first().waitFor();
  assert.equal(await playground.answer.locator(".spelled").count(), 0);
});

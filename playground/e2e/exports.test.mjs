// Files to hand on: the funnels and the matrix.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { write } from "../static/exports.js";
import { RESOLUTION } from "./hello.mjs";
import { visit } from "./visit.mjs";

const CHECKS = "MISSING_CATEGORY MISSING_SCOPE RESIDENCY_MISMATCH SENSITIVITY_EXCEEDED MISSING_CAPABILITY";

const MATRIX = `server,version,tool,audiences,reporting\r
acme-audiences,2.1.0,,selected,"rejected: MISSING_CATEGORY, MISSING_SCOPE"\r
beta-audiences,1.0.0,,eligible,"rejected: MISSING_CATEGORY, MISSING_SCOPE"\r
chart-reports,3.4.1,,"rejected: MISSING_CATEGORY, MISSING_SCOPE",selected\r
gamma,1.0.0,,"rejected: MISSING_SCOPE, RESIDENCY_MISMATCH, SENSITIVITY_EXCEEDED","rejected: MISSING_CATEGORY, MISSING_SCOPE, RESIDENCY_MISMATCH, SENSITIVITY_EXCEEDED"\r
`;

/** An explanation of one requirement. @param {object} requirement */
const explain = (requirement) => JSON.stringify({
  agent: { name: "a", version: "1" },
  requirements: [{ category: "c", eligible: [], rejected: [], selected: null, ...requirement }],
});

/** @param {string} id */
const server = (id) => ({ id, version: "1" });

test("the table of a matrix has a row for each server or tool, and is quoted", () => {
  assert.equal(write("matrix.csv", RESOLUTION, CHECKS), MATRIX);
  const capability = {
    category: undefined,
    capability: { verb: "read", resource: "code" },
    selected: [{ ...server("b"), tool: "y" }, { ...server("b"), tool: "x" }],
    rejected: [{ ...server("a"), tool: null, reasons: [{ code: "MISSING_CAPABILITY", offered: [] }] }],
  };
  assert.equal(write("matrix.csv", explain(capability), CHECKS), "server,version,tool,read:code\r\na,1,,\"rejected: MISSING_CAPABILITY\"\r\nb,1,x,selected\r\nb,1,y,selected\r\n");
  assert.equal(write("matrix.csv", explain({ category: 'a "b", c' }), CHECKS), 'server,version,tool,"a ""b"", c"\r\n');
});

test("no spreadsheet takes a name for a formula", () => {
  const ids = ["=1+1", "+1", "-1", "@sum", "\uFF1D1", "\t=1", "a=1"];
  const lines = write("matrix.csv", explain({ eligible: ids.map(server) }), CHECKS).split("\r\n").slice(1, -1);
  assert.deepEqual(lines.map((line) => line.split(",")[0]).sort(), ["'+1", "'-1", "'=1+1", "'@sum", "'\uFF1D1", "<U+0009>=1", "a=1"].sort());
});

test("rows are in the order of code points", () => {
  const ids = ["\u{1F600}", "\uFF5E", "b", "ab", "a"];
  const lines = write("matrix.csv", explain({ eligible: ids.map(server) }), CHECKS).split("\r\n").slice(1, -1);
  assert.deepEqual(lines.map((line) => line.split(",")[0]), ["a", "ab", "b", "\uFF5E", "\u{1F600}"]);
});

test("a picture says in words what it shows", () => {
  const matrix = write("matrix.svg", RESOLUTION, CHECKS);
  assert.match(matrix, /^<svg [^>]*role="img" aria-labelledby="title description"/);
  assert.match(matrix, /<title id="title">Matrix of hello-agent 1\.0\.0<\/title>/);
  assert.match(matrix, /<desc id="description">acme-audiences 2\.1\.0, audiences: selected\. .*gamma 1\.0\.0, audiences: rejected: MISSING_SCOPE, RESIDENCY_MISMATCH, SENSITIVITY_EXCEEDED\./);
  const funnels = write("funnels.svg", RESOLUTION, CHECKS);
  assert.match(funnels, /<desc id="description">audiences: all 4; MISSING_CATEGORY −1 chart-reports 3\.4\.1: only charts, reporting, 3 left; MISSING_SCOPE −1 gamma 1\.0\.0: no write:audiences, 2 left; 1 selected\. reporting: all 4; /);
  assert.match(funnels, /<text class="no"[^>]*>MISSING_SCOPE −1 gamma 1\.0\.0: no write:audiences<\/text>/);
});

test("names with markup stay names in a picture", () => {
  for (const name of /** @type {const} */ (["matrix.svg", "funnels.svg"])) {
    const text = write(name, explain({ rejected: [{ ...server('<b>&"'), reasons: [{ code: "MISSING_SCOPE", missing: ["</text>"] }] }] }), CHECKS);
    assert.match(text, /&lt;b&gt;&amp;&quot; 1/);
    assert.doesNotMatch(text, /<b>|<\/text><\/text>/);
  }
});

test("a long matrix names the rows that its picture omits, and many losses are a number", () => {
  const many = Array.from({ length: 203 }, (_, at) => ({ ...server(`s${at}`), reasons: [{ code: "MISSING_SCOPE", missing: ["w"] }] }));
  const matrix = write("matrix.svg", explain({ rejected: many }), CHECKS);
  assert.match(matrix, />and 3 more rows</);
  assert.equal(matrix.match(/<g class="rejected">/g)?.length, 200);
  assert.match(write("funnels.svg", explain({ rejected: many }), CHECKS), /all 203; MISSING_SCOPE −203, 0 left; 0 selected\./);
});

test("a server without tools is no candidate of a funnel", () => {
  const capability = { category: undefined, capability: { verb: "read", resource: "code" }, rejected: [{ ...server("a"), tool: null, reasons: [{ code: "MISSING_CAPABILITY", offered: [] }] }] };
  assert.match(write("funnels.svg", explain(capability), CHECKS), /read:code: all 0; 0 selected\./);
});

const DOWNLOADS = /** @type {const} */ ([
  ["Matrix as CSV", "matrix.csv"],
  ["Matrix as SVG", "matrix.svg"],
  ["Funnels as SVG", "funnels.svg"],
]);

visit("the menu makes files of the funnels and the matrix", async ({ playground, page, context }) => {
  for (const [button, name] of DOWNLOADS) {
    const arrives = page.waitForEvent("download");
    await playground.press(button);
    const download = await arrives;
    assert.equal(download.suggestedFilename(), name);
    const text = await readFile(await download.path(), "utf8");
    // It is made of the file that the command line writes.
    assert.equal(text, write(name, RESOLUTION, CHECKS));
    if (!name.endsWith(".svg")) continue;
    const picture = await context.newPage();
    const size = await picture.evaluate(async (svg) => {
      const { documentElement } = new DOMParser().parseFromString(svg, "image/svg+xml");
      const image = new Image();
      image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
      await image.decode();
      return documentElement.querySelector("parsererror") ? 0 : image.width;
    }, text);
    assert.ok(size > 100, name);
    await picture.close();
  }
  // What was asked for is made once.
  await playground.open("Explanation");
  await playground.open("Verdict");
  const later = page.waitForEvent("download", { timeout: 500 }).then(() => true, () => false);
  await playground.type("agents.md", "internal", "public");
  await playground.settled();
  assert.equal(await later, false);
});

visit("the menu makes a file of the problems, also without a decision", async ({ playground, page }) => {
  for (const [from, to, code] of [["category: audiences", "category: nothing", "UNSATISFIED"], ["ires:", "iers:", "MISSPELT_KEY"]]) {
    await playground.type("agents.md", from, to);
    await playground.settled();
    const arrives = page.waitForEvent("download");
    await playground.press("Problems as SARIF");
    const download = await arrives;
    assert.equal(download.suggestedFilename(), "agents.sarif");
    const { runs: [{ results }] } = JSON.parse(await readFile(await download.path(), "utf8"));
    const found = results.map((/** @type {{ ruleId: string }} */ it) => it.ruleId);
    assert.ok(found.includes(code), found.join());
  }
});

visit("without a decision there is no file, and the page says so", async ({ playground }) => {
  await playground.type("agents.md", "ires:", "iers:");
  await playground.says("No decision");
  await playground.press("Matrix as CSV");
  await playground.noticeIs("No decision: an input has errors.");
});

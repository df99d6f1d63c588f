// What the readers of completion make of a text: `node --test editor/completion.test.mjs` in the folder of
// the playground.

import assert from "node:assert/strict";
import { test } from "node:test";
import { read } from "./completion/document.js";
import { plain } from "./completion/tree.js";

/** @param {string} text with `|` at the cursor @param {string} language @returns the site in short */
function site(text, language) {
  const at = text.indexOf("|");
  const found = read(text.slice(0, at) + text.slice(at + 1), language, at).site;
  if (!found) return null;
  const { value } = found.holder;
  const there = value?.kind === "map" ? ` of ${value.entries.map(({ key }) => key)}` : "";
  return `${found.slot} /${found.path.join("/")} "${found.word}"${there}${found.opensMapping ? " or a mapping" : ""}`;
}

/** Texts with the cursor, many of them broken, and the sites there. */
const JSON_SITES = {
  "|": 'value / ""',
  "{|}": 'key / "" of ',
  '{"a": |}': 'value /a ""',
  '{"a"|: 1}': null,
  '["a"|]': null,
  '{"a": 1|}': 'value /a "1"',
  '{"a": [{"b": "x", |}]}': 'key /a/0 "" of b',
  '{"a": [{"b": "x"\n |}]}': 'key /a/0 "" of b',
  '{"a": [{"b": "x", "c|\n "d": 1}], "e": 2}': 'key /a/0 "c" of b,c,d',
  '{"a": ["x", |], "b": []}': 'value /a/1 ""',
  '{"a": ["x|': 'value /a/0 "x"',
  '{"a": ["x|], "b": 1}': 'value /a/0 "x"',
  '{"a": {"b": [1, {"c": tr|}]}, "d": 1}': 'value /a/b/1/c "tr"',
  '{"a": "x\\"|y", "b": 2}': 'value /a "x"y"',
  '{"a": [}, "b": |}': null,
};

const YAML_SITES = {
  "|": 'value / "" or a mapping',
  "na|": 'value / "na" or a mapping',
  "a: 1\n|": 'key / "" of a',
  "a: 1\n|\nb: 2": 'key / "" of a,b',
  "a: |": 'value /a ""',
  "a: # why\n  |": 'value /a "" or a mapping',
  "a:\n  b|\nc: 1": 'value /a "b" or a mapping',
  "a:\n  - |": 'value /a/0 "" or a mapping',
  "a:\n  - b: x\n    |": 'key /a/0 "" of b',
  "a:\n  - b: x|\n    c: y": 'value /a/0/b "x"',
  "a:\n  - x\n  - y|": 'value /a/1 "y" or a mapping',
  "a:\n- b: 1\n|": 'key / "" of a',
  "a:\n  b: [x, |]\n  c: 1": 'value /a/b/1 ""',
  "a:\n  b: [x, y|\n  c: 1\nd: 2": 'value /a/b/1 "y"',
  "a: { b: { c| } }": 'key /a/b "c" of c',
  "a: { b: \"x| } }\nc: 1": 'value /a/b "x"',
  "a: 'it''s|'": "value /a \"it's\"",
  "a|b: 1": 'key / "ab" of ab',
  "# a|": null,
  "a: |\n": 'value /a ""',
};

for (const [language, sites] of [["json", JSON_SITES], ["yaml or json", YAML_SITES]]) {
  test(`the site of the cursor in ${language}`, () => {
    for (const [text, expected] of Object.entries(sites)) assert.equal(site(text, language), expected, text);
  });
}

test("a manifest is read between its two lines alone", () => {
  assert.equal(site("---\na: 1\n|---\nb: 2", "agents.md"), null);
  assert.equal(site("---\na: 1\n|\n---\nb: 2", "agents.md"), 'key / "" of a');
  assert.equal(site("---\na: 1\n---\nb: |", "agents.md"), null);
  assert.equal(site("---\na: 1\n|", "agents.md"), 'key / "" of a');
});

test("values are those of the text", () => {
  const value = { a: [1, true, null, "x: y", { b: {} }], "c d": ["e,f"] };
  assert.deepEqual(plain(read(JSON.stringify(value), "json").root), value);
  const yaml = 'a:\n  - 1\n  - true\n  -\n  - "x: y"\n  - b: {}\n"c d": [\'e,f\'] # why\n';
  assert.deepEqual(plain(read(yaml, "yaml or json").root), value);
  assert.deepEqual(plain(read("a: |\n  b: 1\nc: d # e\nf: >-\n  g\n\nh: 2", "yaml or json").root), { a: "", c: "d", f: "", h: 2 });
});

test("in a long text the sites are the same, and quickly found", (t) => {
  const servers = Array.from({ length: 15_000 }, (_, number) => ({ id: `s"${number}`, scopes: ["read:x", "write:y"], data: { residency: ["eu-only"] }, endpoint: "x".repeat(150) }));
  const long = JSON.stringify(servers, null, 1).slice(0, -2);
  assert.ok(long.length > 4_000_000);
  for (const [text, short] of Object.entries(JSON_SITES)) {
    if (short === null) continue;
    const [slot, path, ...rest] = short.split(" ");
    const expected = [slot, path === "/" ? "/15000" : `/15000${path}`, ...rest].join(" ");
    assert.equal(site(`${long},${text}`, "json"), expected, text);
  }
  const next = `${long},`;
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    assert.ok(read(next, "json", next.length).site);
    return performance.now() - start;
  });
  t.diagnostic(`${times.map((time) => time.toFixed(0))} ms`);
  // Far above what is measured, so that only a relapse fails.
  assert.ok(Math.min(...times) < 200);
});

// The npm package: the examples of its documentation print the documented output, and its types fit
// its values.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

const root = new URL("../..", import.meta.url).pathname;
const dist = process.env.PLAYGROUND_DIST ?? join(root, "target/dist/playground");
const pkg = join(dist, "../js");
const tsc = join(root, "playground/node_modules/.bin/tsc");

let folder;

before(() => {
  assert.ok(existsSync(pkg), `there is no package at ${pkg}: run \`cargo xtask playground --dist\``);
  folder = mkdtempSync(join(tmpdir(), "agent-engine-"));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(pkg, join(folder, "node_modules/agent-engine"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  for (const name of ["agents.md", "mcp.index.json"]) {
    cpSync(join(root, "examples/hello-agent", name), join(folder, name));
  }
  // The lock is the one of `resolve`, so that the first example finds no difference.
  writeFileSync(
    join(folder, "lock.mjs"),
    `import init, { resolve } from "agent-engine";
    import { readFileSync, writeFileSync } from "node:fs";
    const wasm = new URL(import.meta.resolve("agent-engine/agent-engine_bg.wasm"));
    await init({ module_or_path: readFileSync(wasm) });
    const text = (name) => readFileSync(name, "utf8");
    writeFileSync("agents.lock", resolve(text("agents.md"), text("mcp.index.json")).lock);`,
  );
  run("lock.mjs");
});

after(() => {
  if (folder) rmSync(folder, { recursive: true });
});

function run(name) {
  return execFileSync(process.execPath, [name], { cwd: folder, encoding: "utf8", timeout: 60_000 });
}

/** The scripts of a page with their documented output: name, script, output. */
function examples(page) {
  const pattern = /^`([\w-]+\.mjs)`:\n\n```js\n(.*?)^```\n.*?^It prints\n\n```text\n(.*?)^```/gms;
  return [...page.matchAll(pattern)].map(([, name, script, output]) => ({ name, script, output }));
}

test("the examples of the documentation print the documented output", () => {
  const page = readFileSync(join(root, "docs/how-to/javascript.md"), "utf8");
  const found = examples(page);
  assert.equal(found.length, page.match(/^It prints$/gm).length);
  assert.ok(found.length >= 3, `${found.length} examples`);
  for (const { name, script, output } of found) {
    writeFileSync(join(folder, name), script);
    assert.equal(run(name), output, name);
  }
});

function check(script) {
  const file = join(folder, "check.ts");
  writeFileSync(file, script);
  const flags = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext"];
  execFileSync(tsc, [...flags, "--lib", "es2022,dom,esnext.disposable", file], { cwd: folder, encoding: "utf8" });
}

test("the types fit and are precise", () => {
  const head = 'import { resolve, validate, why } from "agent-engine";\nconst answer = resolve("", "");\n';
  check(`${head}
    const satisfied: boolean | null = answer.satisfied;
    const text: string | null = answer.resolution ?? answer.lock;
    for (const { category, outcome } of answer.requirements) {
      const server: string = outcome.verdict === "selected" ? outcome.server.id : outcome.nearest[0].server.id;
      const edits = outcome.verdict === "unsatisfied" ? outcome.nearest[0].fixes[0].edits : null;
      const line: number | undefined = edits?.[0].place.start.line;
      console.log(category?.length, server, line);
    }
    const codes: string[] = validate({ manifest: "" }).map((problem) => problem.code);
    const story = why("", "", "a@1")?.[0];
    const asked: string | null | undefined = story?.checks[0].required;
    const under = resolve("", "", null, { task: "", health: "", tenantId: "acme" });
    const tool: string | undefined = under.requirements[0]?.capability?.verb;
    console.log(satisfied, text, codes, asked, tool);`);
  check(head.replace('"agent-engine"', '"agent-engine/policy"'));
  for (const wrong of ["answer.satisfied.length", "answer.requirements[0].category?.id", "validate({ manifest: 7 })", "answer.lokc"]) {
    assert.throws(() => check(`${head}${wrong};`), /Command failed/, wrong);
  }
});

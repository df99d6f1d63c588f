// Bundles the editor: `node editor/build.mjs [OUTPUT_DIR]` writes
//
// - `editor.js`, an ES module that exports `Editor`
// - `comparison.js`, `completion.js` and `search.js`, which it loads later
// - `editor.css`, the colours
// - `editor.licenses.txt`, the licences of what is in the bundle; they ask to go with every copy
//
// and prints the sizes. OUTPUT_DIR is `dist` in the current folder if not given.

import { build } from "esbuild";
import { copyFile, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { schemas } from "./schemas.mjs";

/** @import { BuildOptions, Plugin } from "esbuild" */

const here = path.dirname(fileURLToPath(import.meta.url));
const playground = path.dirname(here);

/**
 * @param {string} outputDir created if missing
 * @returns {Promise<{ raw: number, gzip: number }>} the sizes of `editor.js` in bytes
 */
export async function buildEditor(outputDir) {
  await mkdir(outputDir, { recursive: true });
  // See adopted-styles.js for the reason.
  const alias = { "style-mod": path.join(here, "adopted-styles.js") };
  const editor = await bundled("editor.js", outputDir, {
    alias,
    // Where the browser can tell that input is waiting, CodeMirror parses for 100 ms at a time. That
    // is a long task, and delays whatever else the page does. Without, it keeps to idle time.
    define: { "navigator.scheduling": "undefined" },
    external: ["./comparison.js", "./completion.js", "./search.js"],
  });
  const search = await bundled("search.js", outputDir, { alias, plugins: [codemirrorOfEditor] });
  const comparison = await bundled("comparison.js", outputDir, { alias, plugins: [codemirrorOfEditor] });
  const completion = await bundled("completion.js", outputDir, {
    define: { DOCUMENT_SCHEMAS: JSON.stringify(await schemas()) },
    plugins: [codemirrorOfEditor],
  });
  await copyFile(path.join(here, "editor.css"), path.join(outputDir, "editor.css"));
  await writeFile(path.join(outputDir, "editor.licenses.txt"), await licences([...editor, ...comparison, ...completion, ...search]));
  const bundle = await readFile(path.join(outputDir, "editor.js"));
  return { raw: bundle.length, gzip: gzipSync(bundle, { level: 9 }).length };
}

/**
 * @param {string} entry the name of the module
 * @param {string} outputDir
 * @param {BuildOptions} options
 * @returns {Promise<string[]>} the files that went into it
 */
async function bundled(entry, outputDir, options) {
  const { metafile } = await build({
    absWorkingDir: playground,
    entryPoints: [path.join(here, entry)],
    outfile: path.join(outputDir, entry),
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
    ...options,
  });
  return Object.keys(metafile?.inputs ?? {});
}

/** Two copies of CodeMirror do not work together. What editor.js exports is listed in codemirror.js. @type {Plugin} */
const codemirrorOfEditor = {
  name: "the CodeMirror of editor.js",
  setup({ onResolve }) {
    onResolve({ filter: /^@(?:codemirror\/(?:language|lint|state|view)|lezer\/highlight)$/ }, () => ({ path: "./editor.js", external: true }));
  },
};

/**
 * @param {string[]} inputs the files that went into the bundle
 * @returns {Promise<string>} name, version and licence text of each package among them
 */
async function licences(inputs) {
  const packages = new Set();
  for (const input of inputs) {
    const match = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (match) packages.add(match[1]);
  }
  const texts = [];
  for (const name of [...packages].sort()) {
    const folder = path.join(playground, "node_modules", name);
    const { version } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} ${version} has no licence file`);
    texts.push(`${name} ${version}\n\n${(await readFile(path.join(folder, file), "utf8")).trim()}\n`);
  }
  return texts.join("\n---\n\n");
}

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const outputDir = path.resolve(process.argv[2] ?? "dist");
  const { raw, gzip } = await buildEditor(outputDir);
  console.log(`editor.js ${raw} bytes, ${gzip} gzip`);
}

// Bundles the editor: `node editor/build.mjs [OUTPUT_DIR]` writes
//
// - `editor.js`, an ES module that exports `Editor`
// - `features.js`, which the page has it load once there is an answer
// - `comparison.js`, `completion.js` and `search.js`, which it loads later
// - `editor.css`, the colours
// - `editor.licenses.txt`, the licences of what is in the bundle; they ask to go with every copy
//
// and prints the sizes. OUTPUT_DIR is `dist` in the current folder if not given.

import { build } from "esbuild";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
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
  const editor = await bundled("editor.js", outputDir, {
    // See adopted-styles.js for the reason.
    alias: { "style-mod": path.join(here, "adopted-styles.js") },
    external: ["./comparison.js", "./completion.js", "./features.js", "./search.js"],
    plugins: [withoutTrees],
  });
  const features = await bundled("features.js", outputDir, {
    // Where the browser can tell that input is waiting, CodeMirror parses for 100 ms at a time. That
    // is a long task, and delays whatever else the page does. Without, it keeps to idle time.
    define: { "navigator.scheduling": "undefined" },
    plugins: [viewOfEditor],
  });
  const plugins = [viewOfEditor, languageOfFeatures];
  const search = await bundled("search.js", outputDir, { plugins });
  const comparison = await bundled("comparison.js", outputDir, { plugins });
  const completion = await bundled("completion.js", outputDir, {
    define: { DOCUMENT_SCHEMAS: JSON.stringify(await schemas()) },
    plugins,
  });
  await bundled("editor.css", outputDir, {});
  await writeFile(path.join(outputDir, "editor.licenses.txt"), await licences([...editor, ...features, ...comparison, ...completion, ...search]));
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

// Two copies of CodeMirror do not work together. What editor.js exports is listed in codemirror.js.
const viewOfEditor = shared("./editor.js", /^(?:@codemirror\/(?:state|view)|style-mod)$/);
const languageOfFeatures = shared("./features.js", /^@(?:codemirror\/(?:language|lint)|lezer\/highlight)$/);

/** The syntax trees, which `@codemirror/commands` imports: without a use they can be left out. @type {Plugin} */
const withoutTrees = {
  name: "no syntax trees",
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^@lezer\/common$/ }, async ({ path, pluginData, ...from }) =>
      pluginData ? undefined : { ...(await resolve(path, { ...from, pluginData: true })), sideEffects: false },
    );
  },
};

/**
 * @param {string} module that exports what others import from packages
 * @param {RegExp} filter of these packages
 * @returns {Plugin}
 */
function shared(module, filter) {
  return { name: module, setup: ({ onResolve }) => onResolve({ filter }, () => ({ path: module, external: true })) };
}

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

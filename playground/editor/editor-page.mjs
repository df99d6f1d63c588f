// For the tests: a page with the editor in it, under the policy that the playground has, in a
// headless Chromium.

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import os from "node:os";
import path from "node:path";
import { launch } from "../chromium.mjs";
import { buildEditor } from "./build.mjs";

const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Editor</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/editor.css">
<link rel="stylesheet" href="/page.css">
<main>
<h1>Editor</h1>
<button id="before">before</button>
<div id="parent"></div>
<button id="after">after</button>
</main>
`;

const CSS = `
:root { color-scheme: light; background: light-dark(#fff, #0d1117); color: light-dark(#000, #fff); font-family: sans-serif; }
:root.dark { color-scheme: dark; }
#parent { height: 24rem; border: 1px solid var(--editor-border); }
`;

const ICON = `<svg xmlns="http://www.w3.org/2000/svg"/>`;

/**
 * @returns what a test file needs: `open` a page, the folder of the bundle, its size, and `close`
 */
export async function startBrowser() {
  const dist = await mkdtemp(path.join(os.tmpdir(), "editor-"));
  const size = await buildEditor(dist);
  /** @type {(name: string) => Promise<[string, string[]]>} */
  const script = async (name) => [`/${name}`, ["text/javascript", await readFile(path.join(dist, name), "utf8")]];
  const scripts = ["editor.js", "features.js", "comparison.js", "completion.js", "search.js"];
  const files = new Map([
    ["/", ["text/html", HTML]],
    ["/page.css", ["text/css", CSS]],
    ["/icon.svg", ["image/svg+xml", ICON]],
    ["/editor.css", ["text/css", await readFile(path.join(dist, "editor.css"), "utf8")]],
    ...(await Promise.all(scripts.map(script))),
  ]);
  const server = createServer((request, response) => {
    const file = files.get(request.url ?? "");
    if (!file) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": `${file[0]}; charset=utf-8`, "content-security-policy": POLICY });
    response.end(file[1]);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const browser = await launch();
  const context = await browser.newContext({ viewport: { width: 1000, height: 600 } });

  return {
    dist,
    size,
    /**
     * A new page whose `window.editor` is an editor, `window.Editor` its class, and
     * `window.changes` the number of calls of `onChange`.
     * @param {object} options of the editor, where they are not the usual, and the `texts` of other
     * documents; `window.done` has what the editor asks of the page. `isBare`: its features are not loaded yet
     */
    async open(options = {}) {
      const page = await context.newPage();
      /** @type {string[]} */
      const complaints = [];
      page.on("pageerror", (error) => complaints.push(String(error.stack)));
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
      });
      await page.goto(`http://127.0.0.1:${port}/`);
      await page.evaluate(async (given) => {
        const { Editor, loadFeatures } = await import("/editor.js");
        const parent = document.querySelector("#parent");
        const page = {
          textOf: (name) => given.texts?.[name] ?? "",
          applyFix: (problem, fix) => window.done.push(`fix ${fix} of ${problem}`),
          explain: (problem) => window.done.push(`code of ${problem}`),
        };
        const all = { language: "agents.md", label: "Manifest", readOnly: false, ...page, ...given };
        Object.assign(window, { Editor, loadFeatures, changes: 0, done: [] });
        if (!given.isBare) await loadFeatures();
        window.editor = new Editor(parent, all, () => window.changes++);
        window.longTasks = [];
        new PerformanceObserver((list) => {
          for (const { duration } of list.getEntries()) window.longTasks.push(Math.round(duration));
        }).observe({ type: "longtask" });
      }, options);
      return { page, complaints };
    },
    async close() {
      await browser.close();
      await new Promise((resolve) => server.close(resolve));
      await rm(dist, { recursive: true });
    },
  };
}

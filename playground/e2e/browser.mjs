// Visits to the built playground, in a headless Chromium. A visit fails on errors and
// warnings of the page, and on requests to other servers than the page's own.

import assert from "node:assert/strict";
import { access } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "../chromium.mjs";
import { Playground } from "./playground.mjs";
import { serve } from "./server.mjs";

/** Service workers are allowed only where they matter: storing the page takes longer than most visits. */
const VISITOR = /** @type {const} */ ({ viewport: { width: 1280, height: 860 }, serviceWorkers: "block" });

const PATIENCE_MS = 15_000;

/**
 * @typedef {object} Options
 * @property {import("playwright-core").BrowserContextOptions} [browser] how the visitor's is
 * @property {string} [example] the folder of the first example; `hello-agent` without it, the page's own if it is empty
 * @property {string} [fragment] the part behind `#` of the address
 * @property {RegExp[]} [expected] complaints that belong to the test
 * @property {boolean} [wait] whether to wait for the first verdict
 * @property {boolean} [slow] whether the network is that of a phone: 1.6 Mbit/s, 150 ms for each answer
 * @property {() => void} [script] runs in each page before anything else
 *
 * @typedef {object} Visit
 * @property {Playground} playground
 * @property {import("playwright-core").Page} page
 * @property {import("playwright-core").BrowserContext} context
 * @property {string} address of the page
 * @property {() => Promise<void>} stopServer
 * @property {(options?: Options) => Promise<Playground>} another visitor, without earlier visits
 */

/** @returns {Promise<string>} the folder of the built page */
async function distFolder() {
  const usual = fileURLToPath(new URL("../../target/dist/playground", import.meta.url));
  const dist = path.resolve(process.env.PLAYGROUND_DIST || usual);
  if (await exists(path.join(dist, "index.html"))) return dist;
  throw new Error(`There is no playground in ${dist}: build it with \`cargo xtask playground --dist\`.`);
}

/** @param {string} file */
function exists(file) {
  return access(file).then(() => true, () => false);
}

/** @returns the browser, and what is needed to visit the page with it */
export async function start() {
  const dist = await distFolder();
  const browser = await launch();
  return {
    dist,
    /**
     * @param {(visit: Visit) => Promise<void>} body
     * @param {Options} [options]
     */
    async visit(body, options = {}) {
      const server = await serve(dist);
      /** @type {string[]} */
      const complaints = [];
      /** @type {import("playwright-core").BrowserContext[]} */
      const contexts = [];
      const arrive = async (/** @type {Options} */ given) => {
        const context = await browser.newContext({ ...VISITOR, ...given.browser });
        contexts.push(context);
        context.setDefaultTimeout(PATIENCE_MS);
        await watch(context, server.address, complaints);
        if (given.script) await context.addInitScript(given.script);
        const page = await context.newPage();
        if (given.slow) await slowDown(page);
        const { example = "hello-agent", fragment } = given;
        await page.goto(server.address + (example && `?example=${example}`) + (fragment ? `#${fragment}` : ""));
        const playground = new Playground(page);
        if (given.wait !== false) await playground.verdict();
        return playground;
      };
      try {
        const playground = await arrive(options);
        const { page } = playground;
        await body({
          playground,
          page,
          context: page.context(),
          address: server.address,
          stopServer: server.stop,
          another: (given = {}) => arrive(given),
        });
        const unexpected = complaints.filter((text) => !options.expected?.some((expected) => expected.test(text)));
        assert.deepEqual(unexpected, [], "the page complains");
      } finally {
        for (const context of contexts) await context.close();
        await server.stop();
      }
    },
    close: () => browser.close(),
  };
}

/** @param {import("playwright-core").Page} page */
async function slowDown(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 150,
    downloadThroughput: 1.6e6 / 8,
    uploadThroughput: 0.75e6 / 8,
  });
}

/**
 * @param {import("playwright-core").BrowserContext} context
 * @param {string} address
 * @param {string[]} complaints
 */
async function watch(context, address, complaints) {
  const { origin } = new URL(address);
  context.on("weberror", (error) => complaints.push(`error: ${error.error().stack}`));
  context.on("console", (message) => {
    if (message.type() === "error") complaints.push(`console: ${message.text()}`);
  });
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith(`blob:${origin}/`)) complaints.push(`request: ${url.slice(0, 200)}`);
  });
  await context.exposeFunction("complain", (/** @type {string} */ text) => complaints.push(text));
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      window.complain(`policy: ${event.violatedDirective} forbids ${event.blockedURI} (${event.sourceFile}:${event.lineNumber})`);
    });
  });
}

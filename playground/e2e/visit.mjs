// Each test is a separate visit.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { start } from "./browser.mjs";

/** @import { TestContext } from "node:test" */
/** @import { Options, Visit } from "./browser.mjs" */

/** @type {Awaited<ReturnType<typeof start>> | undefined} */
let browser;

let isPrepared = false;

/** Starts a browser for the visits of this file. A program that only reads how pages are handled needs none. */
function prepare() {
  if (isPrepared) return;
  isPrepared = true;
  before(async () => (browser = await start()));
  after(() => browser?.close());
}

/**
 * @param {string} name
 * @param {(visit: Visit, t: TestContext) => Promise<void>} body
 * @param {Options} [options]
 */
export function visit(name, body, options) {
  prepare();
  test(name, async (t) => {
    assert.ok(browser, "there is no browser");
    await browser.visit((each) => body(each, t), options);
  });
}

/**
 * Waits until the browser has stored the page for visits without a network.
 * @param {import("playwright-core").Page} page
 * @returns the scope of what is stored
 */
export function stored(page) {
  return page.evaluate(async () => {
    const { active, scope } = await navigator.serviceWorker.ready;
    if (active.state !== "activated") await new Promise((resolve) => (active.onstatechange = resolve));
    return scope;
  });
}

// Where the keyboard is, and how it gets elsewhere.

import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";

/** @param {import("playwright-core").Page} page @returns what has the keyboard, and whether that is to be seen */
export function focused(page) {
  return page.evaluate(() => {
    const element = document.activeElement;
    const editor = element.closest(".cm-editor");
    // An editor draws its frame over its content.
    const frame = editor ? getComputedStyle(editor, "::after") : getComputedStyle(element);
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return {
      name: element.getAttribute("aria-label") ?? (element === document.body ? "the page" : element.textContent.trim()),
      framed: editor
        ? frame.borderTopStyle === "solid" && frame.borderTopWidth === "2px"
        : frame.outlineStyle === "solid" && frame.outlineWidth === "2px",
      inSight: right > 0 && bottom > 0 && left < innerWidth && top < innerHeight && right > left && bottom > top,
    };
  });
}

/** @param {import("playwright-core").Page} page @param {string} key */
export async function go(page, key) {
  const name = await step(page, key);
  assert.notEqual(name, "the page", `${key} leaves the page`);
  return name;
}

/** @param {import("playwright-core").Page} page @param {string} key @returns the name of what has the keyboard, or `the page` */
async function step(page, key) {
  await page.keyboard.press(key);
  return eventually(async () => {
    const now = await focused(page);
    if (now.name === "the page") return now.name;
    assert.ok(now.framed, `no frame around ${now.name}`);
    assert.ok(now.inSight, `out of sight: ${now.name}`);
    return now.name;
  }, 1_000);
}

/**
 * Presses Tab until an element of this name has the keyboard.
 * @param {import("playwright-core").Page} page
 * @param {string | RegExp} name
 */
export async function tabTo(page, name) {
  const passed = [];
  for (let steps = 0; steps < 60; steps++) {
    const now = await go(page, "Tab");
    if (now === name || (name instanceof RegExp && name.test(now))) return;
    passed.push(now);
  }
  assert.fail(`${name} is not among ${passed.join(", ")}`);
}

/** The places of what Tab reaches, in the order of the document; a group that arrows move through is one. */
function reachable() {
  const candidates = document.querySelectorAll("a[href], button, input, select, textarea, summary, .cm-content, [tabindex]");
  return [...candidates].filter((element) => {
    const takes = element.matches(".cm-content") || element.tabIndex >= 0;
    return takes && !element.matches(":disabled") && element.checkVisibility({ visibilityProperty: true }) && !element.closest("[inert]");
  });
}

/**
 * Presses Tab from the first element to the last, and asserts that each that takes the keyboard gets it, framed and in sight.
 * @param {import("playwright-core").Page} page
 * @returns {Promise<number>} of elements
 */
export async function tabThrough(page) {
  const count = await page.evaluate(`window.reachable = (${reachable})(); window.reachable[0].focus(); window.reachable.length`);
  const reached = new Set([0]);
  for (let steps = 1; steps < count; steps++) {
    if ((await step(page, "Tab")) === "the page") break;
    reached.add(await page.evaluate(() => window.reachable.indexOf(document.activeElement)));
  }
  const missed = Array.from({ length: count }, (_, at) => at).filter((at) => !reached.has(at));
  const names = await page.evaluate((at) => at.map((each) => window.reachable[each].outerHTML.slice(0, 120)), missed);
  assert.deepEqual(names, [], "Tab does not reach these");
  return count;
}

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
  await page.keyboard.press(key);
  return eventually(async () => {
    const now = await focused(page);
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

// Whether a page fits its window.

import assert from "node:assert/strict";

export const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

/** @param {import("playwright-core").Page} page @param {string} where */
export async function fits(page, where) {
  const found = await page.evaluate(() => {
    const scrolls = (element) => {
      for (let at = element.parentElement; at; at = at.parentElement) {
        if (/auto|scroll|hidden/.test(getComputedStyle(at).overflowX)) return true;
      }
      return false;
    };
    const outside = [...document.querySelectorAll("button, input, select, a, h1, h2, h3, p")].filter((element) => {
      const { left, right, width } = element.getBoundingClientRect();
      return width > 0 && (left < -1 || right > innerWidth + 1) && !scrolls(element);
    });
    // Parts that scroll down must not scroll sideways, except the matrix and the editors.
    const wider = [document.documentElement, ...document.querySelectorAll(".panel, .explanation, dialog")]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ className, localName, scrollWidth }) => `${className || localName}: ${scrollWidth}`);
    return { wider, outside: outside.map((element) => element.textContent.slice(0, 40)) };
  });
  assert.deepEqual(found, { wider: [], outside: [] }, where);
}

/**
 * @param {import("playwright-core").Page} page
 * @param {string} parts whose texts are read
 * @returns {Promise<string[]>} words of up to 24 letters that begin in one line and end in another
 */
export function broken(page, parts) {
  return page.evaluate((parts) => {
    const found = [];
    for (const part of document.querySelectorAll(parts)) {
      const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        for (const { 0: word, index } of text.data.matchAll(/[\p{L}\p{N}]{1,24}(?![\p{L}\p{N}])/gu)) {
          const range = document.createRange();
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.push(word);
        }
      }
    }
    return found;
  }, parts);
}

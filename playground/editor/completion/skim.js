// The way to a place in a long JSON text: the collections around it, without what is in them. Reading all
// of several megabytes would hold up a frame.

import { isSeparate } from "./flow.js";

/** @import { Frame, Next } from "./flow.js" */
/** @import { Entry, Node } from "./tree.js" */

/**
 * A collection that has not ended: `keys` are the offsets of its keys and of their ends, `count` the
 * number of its items.
 * @typedef {{ isMap: boolean, next: Next, keys: number[], count: number }} Open
 */

/** A value that does not matter. @type {Node} */
const SOMETHING = { kind: "scalar", value: null };

const [TAB, LINE, RETURN, SPACE, QUOTE, COMMA, COLON, ESCAPE] = [9, 10, 13, 32, 34, 44, 58, 92];
const [LIST, END_OF_LIST, MAPPING, END_OF_MAPPING] = [91, 93, 123, 125];

/**
 * @param {string} text
 * @param {number} until the offset of the place
 * @param {(word: string) => string} key the key that a word is
 * @returns {{ at: number, frames: Frame[] }} the end of the last word before the place, and the collections
 * around it, as `readFlow` has them
 */
export function skim(text, until, key) {
  /** @type {Open[]} */
  const open = [];
  let at = 0;
  for (;;) {
    const gap = at;
    while (isSpace(text.charCodeAt(at))) at++;
    if (at >= until) return { at: gap, frames: framesOf(text, open, key) };
    const unit = text.charCodeAt(at);
    const end = unit === QUOTE ? endOfString(text, at) : isSign(unit) ? at + 1 : endOfWord(text, at);
    if (end >= until && !isSign(unit)) return { at: gap, frames: framesOf(text, open, key) };
    const frame = open[open.length - 1];
    if (unit === COMMA) {
      if (frame) frame.next = frame.isMap ? "key" : "value";
    } else if (unit === COLON) {
      if (frame?.isMap && frame.next !== "key") frame.next = "value";
    } else if (unit === END_OF_MAPPING || unit === END_OF_LIST) {
      close(open, unit === END_OF_MAPPING);
    } else if (frame?.isMap && frame.next !== "value" && unit !== MAPPING && unit !== LIST) {
      frame.keys.push(at, end);
      frame.next = "colon";
    } else {
      if (frame) {
        frame.next = "comma";
        frame.count++;
      }
      if (unit === MAPPING) open.push({ isMap: true, next: "key", keys: [], count: 0 });
      else if (unit === LIST) open.push({ isMap: false, next: "value", keys: [], count: 0 });
    }
    at = end;
  }
}

/** @param {Open[]} open @param {boolean} isMap */
function close(open, isMap) {
  for (let last = open.length - 1; last >= 0; last--) {
    if (open[last].isMap !== isMap) continue;
    open.length = last;
    return;
  }
}

/**
 * @param {string} text
 * @param {Open[]} open
 * @param {(word: string) => string} key
 * @returns {Frame[]}
 */
function framesOf(text, open, key) {
  /** @type {Frame[]} */
  const frames = open.map(({ isMap, next, keys, count }) => {
    if (!isMap) {
      const items = Array.from({ length: count }, () => ({ value: SOMETHING }));
      return { node: { kind: "seq", items }, next, slot: items.at(-1) ?? null };
    }
    /** @type {Entry[]} */
    const entries = [];
    for (let at = 0; at < keys.length; at += 2) entries.push({ key: key(text.slice(keys[at], keys[at + 1])), value: SOMETHING });
    const slot = entries.at(-1) ?? null;
    if (slot && next !== "comma" && next !== "key") slot.value = null;
    return { node: { kind: "map", entries }, next, slot };
  });
  frames.forEach(({ slot }, depth) => {
    const inside = frames[depth + 1];
    if (slot && inside) slot.value = inside.node;
  });
  return frames;
}

/** @param {string} text @param {number} at */
function endOfString(text, at) {
  for (let end = at + 1; end < text.length; end++) {
    const unit = text.charCodeAt(end);
    if (unit === QUOTE && isSeparate(text, end + 1)) return end + 1;
    if (unit === QUOTE) break;
    if (unit === ESCAPE) end++;
    else if (unit === LINE) break;
  }
  // Without its end, it is only what may be a name.
  let end = at + 1;
  while (end < text.length && !isEndOfOpenString(text.charCodeAt(end))) end++;
  return end;
}

/** @param {string} text @param {number} at */
function endOfWord(text, at) {
  let end = at;
  while (end < text.length && !isSpace(text.charCodeAt(end)) && !isSign(text.charCodeAt(end)) && text.charCodeAt(end) !== QUOTE) end++;
  return end;
}

/** @param {number} unit */
function isSign(unit) {
  return unit === COMMA || unit === COLON || isBracket(unit);
}

/** @param {number} unit */
function isBracket(unit) {
  return unit === LIST || unit === END_OF_LIST || unit === MAPPING || unit === END_OF_MAPPING;
}

/** @param {number} unit */
function isEndOfOpenString(unit) {
  return unit === LINE || unit === COMMA || isBracket(unit);
}

/** @param {number} unit */
function isSpace(unit) {
  return unit === SPACE || unit === LINE || unit === TAB || unit === RETURN;
}

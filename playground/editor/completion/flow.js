// Reads JSON, and the part of YAML that looks like it.

import { skim } from "./skim.js";

/** @import { Cursor, Entry, Holder, MapNode, Path, ScalarNode, SeqNode } from "./tree.js" */

/**
 * The words of a notation.
 * @typedef {object} Lexicon
 * @property {"json" | "flow"} notation
 * @property {RegExp} bare a word without quotes
 * @property {string} quotes
 * @property {(word: string) => ScalarNode["value"]} value
 */

/** @type {Lexicon} */
export const JSON_WORDS = { notation: "json", bare: /[^\s,:{}[\]"]+/y, quotes: '"', value: jsonValue };

/** A value that does not matter. @type {ScalarNode} */
const SOMETHING = { kind: "scalar", value: null };

/**
 * What comes next in a collection.
 * @typedef {"key" | "colon" | "value" | "comma"} Next
 * @typedef {{ node: MapNode, next: Next, slot: Entry | null }} MapFrame
 * @typedef {{ node: SeqNode, next: Next, slot: Holder | null }} SeqFrame
 * @typedef {MapFrame | SeqFrame} Frame
 */

/**
 * Reads one value.
 * @param {string} text
 * @param {number} start
 * @param {number} end nothing behind it is read
 * @param {Lexicon} lexicon
 * @param {Holder} root gets the value
 * @param {Path} prefix the path of the value
 * @param {Cursor} cursor
 * @returns {number} the offset behind the value
 */
export function readFlow(text, start, end, lexicon, root, prefix, cursor) {
  const isLong = cursor.isSparse && lexicon.notation === "json";
  const { at: begin, frames } = isLong ? skim(text, cursor.at, asKey) : { at: start, frames: /** @type {Frame[]} */ ([]) };
  if (frames.length > 0) root.value = frames[0].node;
  let at = begin;
  do {
    const gap = at;
    while (at < end && isSpace(text.charCodeAt(at))) at++;
    const sign = text[at];
    if (at >= end || isPunctuation(sign)) {
      if (cursor.isIn(gap, at)) look(cursor.at, cursor.at, text.slice(gap, cursor.at).includes("\n"));
      if (at >= end) break;
      at++;
      take(sign);
      continue;
    }
    const word = wordAt(text, at, lexicon);
    const from = at;
    at += word.length;
    if (cursor.at >= gap && cursor.at <= at) {
      if (cursor.isIn(gap, from - 1)) look(cursor.at, cursor.at, text.slice(gap, cursor.at).includes("\n"));
      else if (cursor.isIn(from, isClosed(word) ? at - 1 : at)) look(from, at, true, asKey(word));
    }
    put(word);
  } while (frames.length > 0);
  return at;

  /**
   * @param {number} from
   * @param {number} to
   * @param {boolean} apart whether the site is on another line than a value before it
   * @param {string} [word]
   */
  function look(from, to, apart, word = "") {
    const frame = frames.at(-1);
    const common = { from, to, word, notation: lexicon.notation };
    if (!frame) {
      cursor.found({ ...common, slot: "value", path: [...prefix], holder: root });
      return;
    }
    const path = [...prefix, ...frames.slice(0, -1).map(step)];
    const { next } = frame;
    if ("entries" in frame.node) {
      const holder = frames.length > 1 ? /** @type {Holder} */ (frames[frames.length - 2].slot) : root;
      if (next === "key" || (next !== "value" && apart)) cursor.found({ ...common, slot: "key", path, holder });
      else if (next === "value" && frame.slot) {
        cursor.found({ ...common, slot: "value", path: [...path, step(frame)], holder: frame.slot });
      }
    } else if (next === "value" || apart) {
      const before = frame.node.items.length;
      cursor.found({ ...common, slot: "value", path: [...path, before], holder: { value: null } });
    }
  }

  /** @param {string} sign of punctuation */
  function take(sign) {
    const frame = frames.at(-1);
    switch (sign) {
      case "{":
        open({ node: { kind: "map", entries: [] }, next: "key", slot: null });
        break;
      case "[":
        open({ node: { kind: "seq", items: [] }, next: "value", slot: null });
        break;
      case "}":
      case "]": {
        const kind = sign === "}" ? "map" : "seq";
        const last = frames.findLastIndex(({ node }) => node.kind === kind);
        if (last < 0) break;
        frames.length = last;
        if (cursor.isSparse) forget();
        break;
      }
      case ",":
        if (frame) frame.next = frame.node.kind === "map" ? "key" : "value";
        break;
      case ":":
        if (frame?.node.kind === "map" && frame.next !== "key") frame.next = "value";
        break;
    }
  }

  /** Forgets what the collection that just ended had, and what is behind that of the cursor. */
  function forget() {
    const { site } = cursor;
    if (site && frames.length < site.path.length - prefix.length) at = end;
    const slot = frames.at(-1)?.slot;
    if (slot && !site) slot.value = SOMETHING;
  }

  /** @param {Frame} frame */
  function open(frame) {
    place().value = frame.node;
    frames.push(frame);
  }

  /** @param {string} word */
  function asKey(word) {
    return String(lexicon.value(word) ?? word);
  }

  /** @param {string} word */
  function put(word) {
    const frame = frames.at(-1);
    if (frame && "entries" in frame.node && frame.next !== "value") {
      // Also where the comma before it is missing.
      frame.slot = { key: asKey(word), value: null };
      frame.node.entries.push(/** @type {Entry} */ (frame.slot));
      frame.next = "colon";
      return;
    }
    place().value = cursor.isSparse ? SOMETHING : { kind: "scalar", value: lexicon.value(word) };
  }

  /** @returns {Holder} the place of the next value */
  function place() {
    const frame = frames.at(-1);
    if (!frame) return root;
    frame.next = "comma";
    if ("items" in frame.node) {
      frame.slot = { value: null };
      frame.node.items.push(frame.slot);
    }
    return frame.slot ?? { value: null };
  }
}

/**
 * @param {Frame} frame
 * @returns {string | number} the step of a path into it
 */
function step({ node, slot }) {
  return node.kind === "map" ? /** @type {Entry | null} */ (slot)?.key ?? "" : node.items.length - 1;
}

/**
 * @param {string} text
 * @param {number} at
 * @param {Lexicon} lexicon
 * @returns {string} a string with its quotes, or a word without
 */
export function wordAt(text, at, { bare, quotes }) {
  const quote = text[at];
  if (!quotes.includes(quote)) {
    bare.lastIndex = at;
    return bare.exec(text)?.[0].trimEnd() ?? quote;
  }
  const code = quote.charCodeAt(0);
  for (let end = at + 1; end < text.length; end++) {
    const unit = text.charCodeAt(end);
    if (unit === 0x0a) break;
    if (unit === 0x5c && quote === '"') end++;
    else if (unit === code && quote === "'" && text.charCodeAt(end + 1) === code) end++;
    else if (unit === code && isSeparate(text, end + 1)) return text.slice(at, end + 1);
    else if (unit === code) break;
  }
  // Without its end, it is only what may be a name.
  OPEN_STRING.lastIndex = at;
  return OPEN_STRING.exec(text)?.[0].trimEnd() ?? quote;
}

/**
 * @param {string} text
 * @param {number} at behind a quote
 * @returns {boolean} whether a string may end there: `"b` goes on behind it where `["a, "b"]` lacks a quote
 */
export function isSeparate(text, at) {
  return at >= text.length || " \t\r\n,:]}\"'#".includes(text[at]);
}

const OPEN_STRING = /.[^\n,{}[\]]*/y;

/** @param {string} sign */
function isPunctuation(sign) {
  return sign === "," || sign === ":" || sign === "{" || sign === "}" || sign === "[" || sign === "]";
}

/** @param {string} word */
function jsonValue(word) {
  // Most have no escapes.
  if (word.length > 1 && word.startsWith('"') && word.endsWith('"') && !word.includes("\\")) return word.slice(1, -1);
  const whole = word.startsWith('"') && !isClosed(word) ? `${word}"` : word;
  try {
    return JSON.parse(whole);
  } catch {
    return word.replace(/^"/, "");
  }
}

/**
 * @param {string} word
 * @returns {boolean} whether it is in quotes, with an end
 */
export function isClosed(word) {
  if (word[0] !== '"' && word[0] !== "'") return false;
  return /^"(?:[^"\\]|\\.)*"$|^'(?:[^']|'')*'$/.test(word);
}

/** @param {number} unit */
function isSpace(unit) {
  return unit === 0x20 || unit === 0x0a || unit === 0x09 || unit === 0x0d;
}

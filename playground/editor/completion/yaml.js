// Reads the YAML of manifests and of the other inputs: blocks by their indentation, the rest as flow.
// Anchors, tags and several documents in a text are left out: the engine refuses them.

import { isClosed, readFlow, wordAt } from "./flow.js";

/** @import { Lexicon } from "./flow.js" */
/** @import { Cursor, Entry, Holder, MapNode, Path, SeqNode } from "./tree.js" */

/** @type {Lexicon} */
const FLOW_WORDS = {
  notation: "flow",
  bare: /(?:[^\s,:{}[\]#]|:(?![\s,[\]{}]|$))(?:[^\n,:{}[\]#]|:(?![\s,[\]{}]|$)|(?<=\S)#)*/my,
  quotes: "\"'",
  value: scalar,
};

/** A key with its colon, or the start of a line that may become one. */
const KEY = /("(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'|[^\s#,[\]{}"'&*!|>%@`-][^\n#]*?|-[^\s#][^\n#]*?)\s*:(?=\s|$)/my;

/** @typedef {{ node: MapNode, indent: number, slot: Entry | null } | { node: SeqNode, indent: number, slot: Holder | null }} Frame */

/**
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @param {Holder} root gets the value
 * @param {Cursor} cursor
 */
export function readYaml(text, start, end, root, cursor) {
  /** @type {Frame[]} */
  const frames = [];
  for (let at = start; at <= end; ) {
    const stop = lineEnd(at);
    const from = at + indentOf(at, stop);
    if (from === stop || text[from] === "#" || /^---\s*$/.test(text.slice(from, stop))) {
      if (from === stop && cursor.isIn(at, stop)) lookAtBlank(cursor.at - at);
      at = stop + 1;
      continue;
    }
    at = readLine(at, from, stop);
  }

  /** @param {number} at @returns {number} the end of its line */
  function lineEnd(at) {
    const found = text.indexOf("\n", at);
    return found < 0 || found > end ? end : found;
  }

  /** @param {number} at @param {number} stop @returns {number} */
  function indentOf(at, stop) {
    let from = at;
    while (from < stop && text[from] === " ") from++;
    return from - at;
  }

  /**
   * @param {number} line its start
   * @param {number} from its content
   * @param {number} stop its end
   * @returns {number} the start of the next line that is not part of a value of this one
   */
  function readLine(line, from, stop) {
    // Nothing is to complete before what is there, neither here nor below.
    cursor.isIn(line, from - 1);
    let at = from;
    let first = true;
    for (;;) {
      const indent = at - line;
      if (text[at] === "-" && (at + 1 >= stop || text[at + 1] === " ")) {
        takeItem(indent, first);
        first = false;
        const after = at + 1;
        at = after;
        while (at < stop && text[at] === " ") at++;
        if (at >= stop || text[at] === "#") {
          if (cursor.isIn(after, at)) lookAtValue(cursor.at, cursor.at, true, cursor.at - line);
          return stop + 1;
        }
        cursor.isIn(after, at - 1);
        continue;
      }
      KEY.lastIndex = at;
      const key = KEY.exec(text);
      if (!key || KEY.lastIndex > stop) return readValue(at, stop, line, first);
      const colon = KEY.lastIndex;
      takeKey(indent, String(scalar(key[1])), first);
      first = false;
      if (cursor.isIn(at, at + key[1].length)) lookAtKey(at, at + key[1].length, String(scalar(key[1])));
      at = colon;
      while (at < stop && text[at] === " ") at++;
      if (at >= stop || text[at] === "#") {
        if (cursor.isIn(colon, at)) lookAtValue(cursor.at, cursor.at, false, indent);
        return stop + 1;
      }
      cursor.isIn(colon, at - 1);
      return readValue(at, stop, line, false);
    }
  }

  /**
   * @param {number} at
   * @param {number} stop the end of the line
   * @param {number} line its start
   * @param {boolean} alone whether nothing is before it on its line
   * @returns {number} the start of the line behind the value
   */
  function readValue(at, stop, line, alone) {
    const base = indentOf(line, stop);
    const sign = text[at];
    if (alone) closeAbove(at - line);
    const holder = pending();
    if (sign === "[" || sign === "{") {
      const last = endOfDeeper(stop, base);
      const value = holder ?? { value: null };
      const behind = readFlow(text, at, last, FLOW_WORDS, value, path(), cursor);
      return lineEnd(Math.max(behind, at)) + 1;
    }
    if (sign === "|" || sign === ">") {
      const last = endOfDeeper(stop, base);
      cursor.isIn(at, last);
      if (holder) holder.value = { kind: "scalar", value: "" };
      return last + 1;
    }
    const quoted = sign === '"' || sign === "'";
    const word = quoted ? wordAt(text, at, FLOW_WORDS) : withoutComment(text.slice(at, stop));
    const to = at + word.length;
    if (cursor.isIn(at, isClosed(word) ? to - 1 : to)) {
      const frame = frames.at(-1);
      // A key that has no colon yet.
      if (alone && frame?.node.kind === "map" && frame.indent === at - line) lookAtKey(at, to, word);
      else if (holder) lookAtValue(at, to, alone || text.slice(line, at).trimEnd().endsWith("-"), at - line, String(scalar(word) ?? word));
      return stop + 1;
    }
    if (holder && !(alone && frames.at(-1)?.indent === at - line)) holder.value = { kind: "scalar", value: scalar(word) };
    return stop + 1;
  }

  /** @param {number} stop the end of a line @param {number} indent @returns {number} the end of the deeper lines behind it */
  function endOfDeeper(stop, indent) {
    for (let last = stop; ; ) {
      const next = last + 1;
      if (next > end) return last;
      const behind = lineEnd(next);
      const depth = indentOf(next, behind);
      if (depth <= indent && next + depth < behind) return last;
      last = behind;
    }
  }

  /** @param {number} indent */
  function dedent(indent) {
    while (frames.length > 0 && frames[frames.length - 1].indent > indent) frames.pop();
  }

  /** @param {number} indent of something that is no item */
  function closeAbove(indent) {
    dedent(indent);
    // A sequence may be as deep as the key above it.
    if (frames.at(-1)?.node.kind === "seq" && frames.at(-1)?.indent === indent) frames.pop();
  }

  /** @returns {Holder | null} the place of the next value, if nothing is there yet */
  function pending() {
    const frame = frames.at(-1);
    const holder = frame ? frame.slot : root;
    return holder && holder.value === null ? holder : null;
  }

  /** @param {number} indent @param {boolean} first */
  function takeItem(indent, first) {
    if (first) dedent(indent);
    let top = frames.at(-1);
    if (top?.node.kind !== "seq" || top.indent !== indent || !first) {
      /** @type {SeqNode} */
      const node = { kind: "seq", items: [] };
      const holder = pending();
      if (holder) holder.value = node;
      top = { node, indent, slot: null };
      frames.push(top);
    }
    top.slot = { value: null };
    /** @type {SeqNode} */ (top.node).items.push(top.slot);
  }

  /** @param {number} indent @param {string} key @param {boolean} first */
  function takeKey(indent, key, first) {
    if (first) closeAbove(indent);
    let top = frames.at(-1);
    if (top?.node.kind !== "map" || top.indent !== indent) {
      /** @type {MapNode} */
      const node = { kind: "map", entries: [] };
      const holder = pending();
      if (holder) holder.value = node;
      top = { node, indent, slot: null };
      frames.push(top);
    }
    const entry = { key, value: null };
    top.slot = entry;
    /** @type {MapNode} */ (top.node).entries.push(entry);
  }

  /** @returns {Path} of the next value */
  function path() {
    return frames.map(step);
  }

  /** @param {number} from @param {number} to @param {string} [word] */
  function lookAtKey(from, to, word = "") {
    const above = frames.at(-2);
    cursor.found({
      slot: "key",
      path: frames.slice(0, -1).map(step),
      from,
      to,
      word,
      notation: "block",
      indent: frames.at(-1)?.indent ?? 0,
      holder: (above ? above.slot : root) ?? root,
    });
  }

  /** @param {number} from @param {number} to @param {boolean} opensMapping @param {number} indent @param {string} [word] */
  function lookAtValue(from, to, opensMapping, indent, word = "") {
    const holder = frames.length > 0 ? /** @type {Holder} */ (frames[frames.length - 1].slot) : root;
    cursor.found({ slot: "value", path: path(), from, to, word, notation: "block", opensMapping, indent, holder });
  }

  /** @param {number} column of the cursor, on a line without anything else */
  function lookAtBlank(column) {
    const open = frames.filter(({ indent }) => indent <= column);
    const hidden = frames.splice(open.length);
    while (open.length > 0 && open[open.length - 1].node.kind === "seq" && open[open.length - 1].indent === column) {
      hidden.unshift(...frames.splice(-1));
      open.pop();
    }
    const top = frames.at(-1);
    const { at } = cursor;
    if (!top) {
      if (column === 0) lookAtValue(at, at, true, 0);
    } else if (top.node.kind === "map" && top.indent === column) lookAtKey(at, at);
    else if (top.slot?.value === null) lookAtValue(at, at, true, column);
    frames.push(...hidden);
  }
}

/**
 * @param {Frame} frame
 * @returns {string | number} the step of a path into it
 */
function step({ node, slot }) {
  return node.kind === "map" ? /** @type {Entry | null} */ (slot)?.key ?? "" : node.items.length - 1;
}

/** @param {string} word */
function withoutComment(word) {
  return word.replace(/\s#.*$/, "").trimEnd();
}

/**
 * @param {string} word
 * @returns {string | number | boolean | null}
 */
function scalar(word) {
  if (word.startsWith('"')) {
    try {
      return JSON.parse(isClosed(word) ? word : `${word}"`);
    } catch {
      return word.replace(/^"|"$/g, "");
    }
  }
  if (word.startsWith("'")) return word.replace(/^'|'$/g, "").replaceAll("''", "'");
  if (word === "true" || word === "false") return word === "true";
  if (word === "null" || word === "~" || word === "") return null;
  return /^-?\d+(?:\.\d+)?$/.test(word) ? Number(word) : word;
}

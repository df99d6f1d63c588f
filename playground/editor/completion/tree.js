// What the readers of JSON and YAML make of a text: a tree of its values, and the site of the cursor
// in it. Both read texts that are broken, because a text is broken while it is written.

/** @typedef {(string | number)[]} Path of keys, and of numbers of items from 0 */

/**
 * A place for a value: an entry of a mapping, an item of a sequence, or the whole text.
 * @typedef {{ value: Node | null }} Holder
 * @typedef {Holder & { key: string }} Entry
 * @typedef {{ kind: "map", entries: Entry[] }} MapNode
 * @typedef {{ kind: "seq", items: Holder[] }} SeqNode
 * @typedef {{ kind: "scalar", value: string | number | boolean | null }} ScalarNode
 * @typedef {MapNode | SeqNode | ScalarNode} Node
 */

/**
 * Where the cursor is.
 * @typedef {object} Site
 * @property {"key" | "value"} slot
 * @property {Path} path of the mapping that has the key, or of the value
 * @property {number} from of the word at the cursor, with its quotes; where nothing is, the cursor
 * @property {number} to
 * @property {string} word its content; empty where nothing is
 * @property {"json" | "flow" | "block"} notation
 * @property {boolean} opensMapping whether a value may also be the first key of a mapping
 * @property {number} indent the column of the keys of the block
 * @property {Holder} holder what has the mapping of the key, or the value
 */

/** Finds the site of an offset, while a text is read from its start to its end. */
export class Cursor {
  /** @type {Site | null} */
  site = null;
  #found = false;

  /**
   * @param {number} at the offset
   * @param {boolean} isSparse whether the tree may have nothing but what is around it
   */
  constructor(at, isSparse) {
    this.at = at;
    this.isSparse = isSparse;
  }

  /**
   * @param {number} from
   * @param {number} to
   * @returns {boolean} whether the cursor is within or beside this part of the text, and in none before
   */
  isIn(from, to) {
    if (this.#found || this.at < from || this.at > to) return false;
    this.#found = true;
    return true;
  }

  /** @param {Omit<Site, "opensMapping" | "indent"> & Partial<Site>} site */
  found(site) {
    this.site = { opensMapping: false, indent: 0, ...site };
  }
}

/**
 * @param {Node | null} node
 * @param {Path} path
 * @returns {Node | null} the value at a path
 */
export function nodeAt(node, path) {
  for (const step of path) {
    if (node?.kind === "map") node = node.entries.findLast((entry) => entry.key === step)?.value ?? null;
    else if (node?.kind === "seq") node = node.items[Number(step)]?.value ?? null;
    else return null;
  }
  return node;
}

/**
 * @param {Node | null} node
 * @returns {unknown} the same as `JSON.parse` returns
 */
export function plain(node) {
  if (node?.kind === "map") return Object.fromEntries(node.entries.map(({ key, value }) => [key, plain(value)]));
  if (node?.kind === "seq") return node.items.map((item) => plain(item.value));
  return node?.value ?? null;
}

// Reads a document by its language.

import { JSON_WORDS, readFlow } from "./flow.js";
import { Cursor } from "./tree.js";
import { readYaml } from "./yaml.js";

/** @import { LanguageName } from "../languages.js" */
/** @import { Node, Site } from "./tree.js" */

/** Of a longer text with a cursor, only what is around the cursor is kept: all of it takes too much memory. */
export const WHOLE_MAX_UNITS = 300_000;

/**
 * @param {string} text
 * @param {LanguageName} language
 * @param {number} [at] the cursor
 * @returns {{ root: Node | null, site: Site | null }} the value, and the site of the cursor in it
 */
export function read(text, language, at = -1) {
  const cursor = new Cursor(at, at >= 0 && text.length > WHOLE_MAX_UNITS);
  const root = { value: null };
  if (language === "json" || (language === "yaml or json" && /^[[{]/.test(text))) {
    readFlow(text, 0, text.length, JSON_WORDS, root, [], cursor);
  } else if (language === "yaml or json") {
    readYaml(text, 0, text.length, root, cursor);
  } else if (language === "agents.md") {
    const [from, to] = frontmatter(text);
    if (from <= to) readYaml(text, from, to, root, cursor);
  }
  return { root: root.value, site: cursor.site };
}

/**
 * @param {string} text
 * @returns {[number, number]} where the lines between the two `---` begin and end
 */
function frontmatter(text) {
  const opening = /^---[ \t]*\n/.exec(text);
  if (!opening) return [0, -1];
  const from = opening[0].length;
  const closing = /^---[ \t]*$/m.exec(text.slice(from));
  return [from, closing ? from + closing.index - 1 : text.length];
}

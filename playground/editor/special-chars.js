// Characters that can't be seen, or that direct others.

import { highlightSpecialChars } from "@codemirror/view";
import { hasShortLines, switched } from "./lines.js";

/** @import { Extension, Text } from "@codemirror/state" */

/** Directional formatting characters that CodeMirror does not count among the special ones. */
const MORE_SPECIAL_CHARS = /[\u202a-\u202c\u2068]/;

const shownSpecialChars = highlightSpecialChars({ addSpecialChars: MORE_SPECIAL_CHARS });

/**
 * @param {Text} doc the text at first
 * @returns {Extension} shows special characters, unless a line is too long for it
 */
export function specialChars(doc) {
  return switched(doc, hasShortLines, () => shownSpecialChars);
}

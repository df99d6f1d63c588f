// What depends on the length of a text and of its lines: a text too long for a feature does without it.

import { Compartment, EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { LINE_MAX_UNITS, WRAPPED_LINE_MAX_UNITS } from "./limits.js";

/** @import { Extension, Text } from "@codemirror/state" */

/** Characters of scripts that run from right to left, and those that direct others. */
const DIRECTIONAL_CHARS = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff]|\ud802|\ud803|\ud83a|\ud83b/;

/**
 * @param {Text} doc the text at first
 * @returns {Extension} breaks lines where they don't fit, unless one is too long for it
 */
export function wrapping(doc) {
  return switched(doc, hasWrappableLines, () => EditorView.lineWrapping);
}

/**
 * @param {Text} doc the text at first
 * @param {(doc: Text) => boolean} wanted
 * @param {(doc: Text) => Extension} feature the same value for as long as it is the same
 * @returns {Extension} the feature, as long as it is wanted
 */
export function switched(doc, wanted, feature) {
  const compartment = new Compartment();
  /** @type {Extension} */
  const nothing = [];
  /** @param {Text} text */
  const extension = (text) => (wanted(text) ? feature(text) : nothing);
  return [
    compartment.of(extension(doc)),
    EditorState.transactionExtender.of((transaction) => {
      if (!transaction.docChanged) return null;
      const now = extension(transaction.newDoc);
      return now === compartment.get(transaction.startState) ? null : { effects: compartment.reconfigure(now) };
    }),
  ];
}

/** @param {Text} doc */
export function hasShortLines(doc) {
  return !hasLineAbove(doc, LINE_MAX_UNITS);
}

/**
 * @param {Text} doc
 * @returns {boolean} whether no line is too long to be broken; one with directional characters costs minutes
 */
function hasWrappableLines(doc) {
  return !hasLineAbove(doc, WRAPPED_LINE_MAX_UNITS) && !hasLineAbove(doc, LINE_MAX_UNITS, (text) => DIRECTIONAL_CHARS.test(text));
}

/**
 * @param {Text} doc
 * @param {number} units
 * @param {(text: string) => boolean} [also] another condition
 * @returns {boolean} whether a line is longer; looks only where there is room for one
 */
function hasLineAbove(doc, units, also) {
  if (doc.length <= units) return false;
  if (doc.children) return doc.children.some((child) => hasLineAbove(child, units, also));
  for (let number = 1; number <= doc.lines; number++) {
    const line = doc.line(number);
    if (line.length > units && (!also || also(line.text))) return true;
  }
  return false;
}

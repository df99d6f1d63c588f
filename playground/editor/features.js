// The features of the editor, by the size of the text.

import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, highlightSpecialChars } from "@codemirror/view";
import { languageSupport } from "./languages.js";
import { LINE_MAX_UNITS, PROBLEM_GUTTER_MAX_UNITS } from "./limits.js";
import { problemGutter } from "./problems.js";

/** @import { Extension, Text } from "@codemirror/state" */
/** @import { LanguageName } from "./languages.js" */

/** Directional formatting characters that CodeMirror does not count among the special ones. */
const MORE_SPECIAL_CHARS = /[\u202a-\u202c\u2068]/;

const specialChars = highlightSpecialChars({ addSpecialChars: MORE_SPECIAL_CHARS });

/**
 * @param {LanguageName} language
 * @param {Text} doc the text at first
 * @param {boolean} wrapped whether lines are broken where they don't fit
 * @returns {Extension} switches features off when the text grows too large, and on again
 */
export function features(language, doc, wrapped) {
  return [
    wrapped ? switched(doc, hasShortLines, () => EditorView.lineWrapping) : [],
    switched(doc, hasProblemGutter, () => problemGutter),
    switched(doc, hasShortLines, languageSupport(language)),
    switched(doc, hasShortLines, () => specialChars),
  ];
}

/**
 * @param {Text} doc the text at first
 * @param {(doc: Text) => boolean} wanted
 * @param {(doc: Text) => Extension} feature the same value for as long as it is the same
 * @returns {Extension} the feature, as long as it is wanted
 */
function switched(doc, wanted, feature) {
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
function hasProblemGutter(doc) {
  return doc.length <= PROBLEM_GUTTER_MAX_UNITS;
}

/** @param {Text} doc */
function hasShortLines(doc) {
  return !hasLineAbove(doc, LINE_MAX_UNITS);
}

/**
 * @param {Text} doc
 * @param {number} units
 * @returns {boolean} whether a line is longer; looks only where there is room for one
 */
function hasLineAbove(doc, units) {
  if (doc.length <= units) return false;
  if (doc.children) return doc.children.some((child) => hasLineAbove(child, units));
  for (let number = 1; number <= doc.lines; number++) {
    if (doc.line(number).length > units) return true;
  }
  return false;
}

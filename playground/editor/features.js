// What an editor has beyond its text: `features.js` of the page, which featuring.js loads. It shares CodeMirror's view
// with editor.js, and exports what completion.js and comparison.js use of the rest.

import { defaultKeymap } from "@codemirror/commands";
import { Prec } from "@codemirror/state";
import { keymap } from "@codemirror/view";
import { languageSupport } from "./languages.js";
import { theme } from "./features-theme.js";
import { PROBLEM_GUTTER_MAX_UNITS } from "./limits.js";
import { hasShortLines, switched } from "./lines.js";
import { problemGutter, problemKeymap, problems } from "./problems.js";

/** @import { Extension, Text } from "@codemirror/state" */
/** @import { LanguageName } from "./languages.js" */

export { highlightingFor, indentUnit, language, syntaxTree } from "@codemirror/language";
export { forEachDiagnostic } from "@codemirror/lint";
export { highlightTree } from "@lezer/highlight";
export { showProblems } from "./problems.js";

const always = [
  problems,
  theme,
  // Tab is not bound: it leaves the editor, as everywhere else. The keys of other features go first.
  Prec.low(keymap.of([...problemKeymap, ...defaultKeymap])),
];

/**
 * @param {LanguageName} name
 * @param {Text} doc the text at first
 * @returns {Extension} switches features off when the text grows too large, and on again
 */
export function features(name, doc) {
  return [
    switched(doc, hasProblemGutter, () => problemGutter),
    switched(doc, hasShortLines, languageSupport(name)),
    always,
  ];
}

/** @param {Text} doc */
function hasProblemGutter(doc) {
  return doc.length <= PROBLEM_GUTTER_MAX_UNITS;
}

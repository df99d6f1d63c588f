// What the editor does depends on how large the text is; this keeps the two together.

import { Compartment, EditorState } from "@codemirror/state";
import { languageSupport } from "./languages.js";
import { PROBLEM_GUTTER_MAX_UNITS, SYNTAX_MAX_UNITS } from "./limits.js";
import { problemGutter } from "./problems.js";

/** @import { Extension } from "@codemirror/state" */
/** @import { LanguageName } from "./languages.js" */

/**
 * @param {LanguageName} language
 * @param {number} length of the text at first
 * @returns {Extension} switches features off when the text grows too large, and on again
 */
export function features(language, length) {
  const syntax = new Compartment();
  const gutter = new Compartment();
  /** @param {number} units */
  const syntaxFor = (units) => (units <= SYNTAX_MAX_UNITS ? languageSupport(language) : []);
  /** @param {number} units */
  const gutterFor = (units) => (units <= PROBLEM_GUTTER_MAX_UNITS ? problemGutter : []);

  return [
    gutter.of(gutterFor(length)),
    syntax.of(syntaxFor(length)),
    EditorState.transactionExtender.of(({ changes }) => {
      const { length: before, newLength: after } = changes;
      const effects = [];
      if (before <= SYNTAX_MAX_UNITS !== after <= SYNTAX_MAX_UNITS) {
        effects.push(syntax.reconfigure(syntaxFor(after)));
      }
      if (before <= PROBLEM_GUTTER_MAX_UNITS !== after <= PROBLEM_GUTTER_MAX_UNITS) {
        effects.push(gutter.reconfigure(gutterFor(after)));
      }
      return effects.length ? { effects } : null;
    }),
  ];
}

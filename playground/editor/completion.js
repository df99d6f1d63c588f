// Completion, hovers and quick fixes of the editors: `completion.js` of the page, which assistance.js
// loads. It shares CodeMirror with editor.js.
//
// The package `codemirror-json-schema` is not used: it reads frontmatter and broken YAML poorly, and
// validates, which is the engine's business.

import { autocompletion, closeCompletion, currentCompletions, selectedCompletion, startCompletion } from "@codemirror/autocomplete";
import { Prec } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { completions } from "./completion/completions.js";
import { hovers } from "./completion/hovers.js";
import { quickFixes, startQuickFix } from "./completion/quick-fixes.js";
import { theme } from "./completion/theme.js";

/** @import { CompletionContext } from "@codemirror/autocomplete" */
/** @import { Extension } from "@codemirror/state" */
/** @import { Command } from "@codemirror/view" */
/** @import { Surroundings } from "./assistance.js" */
/** @import { Ending } from "./completion/completions.js" */

export { startCompletion, startQuickFix };

/** Where a value is whole already, Enter ends its line. @type {Command} */
function leaveWholeValue(view) {
  const { label = "", mayEndLine } = /** @type {Partial<Ending>} */ (selectedCompletion(view.state) ?? {});
  const { head } = view.state.selection.main;
  if (mayEndLine && view.state.sliceDoc(Math.max(0, head - label.length), head) === label) closeCompletion(view);
  return false;
}

/**
 * @param {Surroundings} surroundings
 * @returns {Extension}
 */
export function completion(surroundings) {
  const complete = completions(surroundings);
  /** Whether the list was asked for, and does not only follow the typing. */
  let isAsked = false;
  const source = (/** @type {CompletionContext} */ context) => {
    isAsked = context.explicit;
    return quickFixes(context) ?? complete(context);
  };
  /** Closes the list where all that it offers is typed already. */
  const closeAtWholeWord = EditorView.updateListener.of(({ docChanged, state, view }) => {
    if (docChanged) isAsked = false;
    const offered = currentCompletions(state);
    const [{ label } = { label: "" }] = offered;
    const { head } = state.selection.main;
    const isTyped = state.sliceDoc(Math.max(0, head - label.length), head) === label;
    // An update can't begin another one.
    if (offered.length === 1 && isTyped && !isAsked) queueMicrotask(() => closeCompletion(view));
  });
  return [
    Prec.highest(keymap.of([{ key: "Enter", run: leaveWholeValue }])),
    autocompletion({ override: [source], icons: false }),
    closeAtWholeWord,
    keymap.of([{ key: "Mod-.", run: startQuickFix, preventDefault: true }]),
    hovers(surroundings),
    theme,
  ];
}

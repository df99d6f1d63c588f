// The fixes of the problems at the cursor, as a list to choose from by keyboard. The tooltip of a problem
// has the same as buttons.

import { closeCompletion, startCompletion } from "@codemirror/autocomplete";
import { forEachDiagnostic } from "@codemirror/lint";
import { EditorView } from "@codemirror/view";

/** @import { CompletionContext, CompletionResult } from "@codemirror/autocomplete" */
/** @import { Action } from "@codemirror/lint" */
/** @import { EditorState } from "@codemirror/state" */
/** @import { Command } from "@codemirror/view" */

/** The editors whose next completions are to be fixes. @type {WeakSet<EditorView>} */
const asked = new WeakSet();

/** @type {Command} */
export function startQuickFix(view) {
  if (actionsAt(view.state).length === 0) {
    view.dispatch({ effects: EditorView.announce.of("No fix here can be applied") });
    return true;
  }
  asked.add(view);
  return startCompletion(view);
}

/**
 * @param {CompletionContext} context
 * @returns {CompletionResult | null} the fixes, if they are asked for
 */
export function quickFixes({ view, state, pos }) {
  if (!view || !asked.delete(view)) return null;
  const options = actionsAt(state).map(({ action, from, to }, at) => ({
    label: action.name,
    boost: -at,
    apply: () => {
      closeCompletion(view);
      action.apply(view, from, to);
    },
  }));
  return { from: pos, options, filter: false };
}

/** @typedef {{ action: Action, from: number, to: number }} Here */

/**
 * @param {EditorState} state
 * @returns {Here[]} those of the problems at the cursor, or else those of its line
 */
function actionsAt(state) {
  const { from, to } = state.selection.main;
  const line = { from: state.doc.lineAt(from).from, to: state.doc.lineAt(to).to };
  for (const range of [{ from, to }, line]) {
    /** @type {Here[]} */
    const here = [];
    forEachDiagnostic(state, ({ actions = [] }, start, end) => {
      if (start > range.to || end < range.from) return;
      here.push(...actions.map((action) => ({ action, from: start, to: end })));
    });
    if (here.length > 0) return here;
  }
  return [];
}

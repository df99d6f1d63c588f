// Pasting a large text, in parts: as one change, 5 MB would hold up the page for 80 ms.

import { isolateHistory } from "@codemirror/commands";
import { Annotation, EditorState, StateField, Transaction } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { PASTE_PART_UNITS } from "./limits.js";

/** Marks the changes of a paste with `true`, and its end, a separate task, with `false`. */
export const pasted = /** @type {import("@codemirror/state").AnnotationType<boolean>} */ (Annotation.define());

/** Whether a paste is under way. */
const pasting = StateField.define({
  create: () => false,
  update: (value, transaction) => transaction.annotation(pasted) ?? value,
});

/**
 * @param {EditorView} view
 * @param {string} text takes the place of the selection, as one step for undo
 */
async function pasteInParts(view, text) {
  const { from, to } = view.state.selection.main;
  // Changes of one moment are one step.
  const time = Transaction.time.of(Date.now());
  for (let start = 0; start < text.length; start += PASTE_PART_UNITS) {
    const end = Math.min(start + PASTE_PART_UNITS, text.length);
    const isLast = end === text.length;
    /** @type {import("@codemirror/state").Annotation<any>[]} */
    const annotations = [pasted.of(true), time];
    if (start === 0) annotations.push(isolateHistory.of("before"));
    if (isLast) annotations.push(isolateHistory.of("after"));
    const at = from + start;
    view.dispatch({
      changes: { from: at, to: start === 0 ? to : at, insert: view.state.toText(text.slice(start, end)) },
      selection: { anchor: from + end },
      scrollIntoView: isLast,
      annotations,
    });
    await new Promise((resolve) => setTimeout(resolve));
    // Another text may have taken the place of all of it.
    if (!view.state.field(pasting)) return;
  }
  view.dispatch({ annotations: pasted.of(false) });
}

/**
 * @param {(text: string) => string} filter of what is pasted
 * @returns {import("@codemirror/state").Extension}
 */
export function largePaste(filter) {
  return [
    pasting,
    // The parts stay together.
    EditorState.changeFilter.of((change) => !change.startState.field(pasting) || change.annotation(pasted) !== undefined),
    EditorView.domEventHandlers({
      paste: (event, view) => {
        const text = event.clipboardData?.getData("text/plain") ?? "";
        const { ranges } = view.state.selection;
        if (text.length <= PASTE_PART_UNITS || ranges.length > 1 || view.state.field(pasting)) return false;
        pasteInParts(view, filter(text));
        return true;
      },
    }),
  ];
}

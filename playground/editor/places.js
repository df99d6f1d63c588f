// Places of the text that are marked with a background.

import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView } from "@codemirror/view";
import { PLACES_MAX_COUNT } from "./limits.js";
import { rangeOf } from "./positions.js";

/** @import { Range, Text } from "@codemirror/state" */
/** @import { DecorationSet } from "@codemirror/view" */
/** @import { Place } from "./positions.js" */

/** @type {import("@codemirror/state").StateEffectType<readonly Place[]>} */
export const setPlaces = StateEffect.define();

const text = Decoration.mark({ class: "cm-place" });
const emptyLine = Decoration.line({ class: "cm-place" });

export const places = StateField.define({
  /** @returns {DecorationSet} */
  create: () => Decoration.none,
  update(marks, transaction) {
    marks = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(setPlaces)) marks = marksOf(transaction.state.doc, effect.value);
    }
    return marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/**
 * @param {Text} doc
 * @param {readonly Place[]} list
 */
function marksOf(doc, list) {
  return Decoration.set(list.slice(0, PLACES_MAX_COUNT).map((place) => markOf(doc, place)), true);
}

/**
 * @param {Text} doc
 * @param {Place} place
 * @returns {Range<Decoration>}
 */
function markOf(doc, place) {
  let { from, to } = rangeOf(doc, place);
  if (from === to) {
    // Nothing has no background: mark the character behind it, or before it at the end of a line.
    const line = doc.lineAt(from);
    if (line.length === 0) return emptyLine.range(line.from);
    if (to < line.to) to++;
    else from--;
  }
  return text.range(from, to);
}

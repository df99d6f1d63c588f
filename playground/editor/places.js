// Marks places of the text with a background.

import { StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView } from "@codemirror/view";
import { PLACES_MAX_COUNT } from "./limits.js";
import { rangeOf } from "./positions.js";

/** @import { Range, Text } from "@codemirror/state" */
/** @import { DecorationSet } from "@codemirror/view" */
/** @import { Place } from "./positions.js" */

/**
 * @typedef {Place & { tone?: string }} MarkedPlace `tone` is a list of words, for which the theme has
 * colours
 */

/** @type {import("@codemirror/state").StateEffectType<readonly MarkedPlace[]>} */
export const setPlaces = StateEffect.define();

/** @param {string} [tone] */
function classOf(tone) {
  const words = tone ? tone.split(" ") : [];
  return ["cm-place", ...words.map((word) => `cm-place-${word}`)].join(" ");
}

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
 * @param {readonly MarkedPlace[]} list
 */
function marksOf(doc, list) {
  return Decoration.set(list.slice(0, PLACES_MAX_COUNT).map((place) => markOf(doc, place)), true);
}

/**
 * @param {Text} doc
 * @param {MarkedPlace} place
 * @returns {Range<Decoration>}
 */
function markOf(doc, place) {
  let { from, to } = rangeOf(doc, place);
  const marked = { class: classOf(place.tone) };
  if (from === to) {
    // An empty place has no background. Mark the next character, or the last one of the line.
    const line = doc.lineAt(from);
    if (line.length === 0) return Decoration.line(marked).range(line.from);
    if (to < line.to) to++;
    else from--;
  }
  return Decoration.mark(marked).range(from, to);
}

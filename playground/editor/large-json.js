// JSON that is too large for a syntax tree: the browser would parse it for seconds, in pieces that
// hold up the keys. Colours come from the lines in view alone, and folding from their indentation.

import { foldGutter, foldKeymap, foldService, highlightingFor } from "@codemirror/language";
import { Decoration, MatchDecorator, ViewPlugin, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { FOLD_MAX_LINES } from "./limits.js";

/** @import { Extension } from "@codemirror/state" */
/** @import { DecorationSet, EditorView, ViewUpdate } from "@codemirror/view" */

/** Strings, each with the colon behind it if it is a key; numbers; words. */
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g;

/** @param {RegExpExecArray} match */
function tagOf([token, colon]) {
  if (token.startsWith('"')) return colon ? tags.propertyName : tags.string;
  return /^[tfn]/.test(token) ? tags.bool : tags.number;
}

const tokens = new MatchDecorator({
  regexp: TOKEN,
  decorate: (add, from, to, match, view) => {
    const name = highlightingFor(view.state, [tagOf(match)]);
    if (name) add(from, to - (match[1]?.length ?? 0), Decoration.mark({ class: name }));
  },
});

const colours = ViewPlugin.fromClass(
  class {
    /** @type {DecorationSet} */
    decorations;

    /** @param {EditorView} view */
    constructor(view) {
      this.decorations = tokens.createDeco(view);
    }

    /** @param {ViewUpdate} update */
    update(update) {
      this.decorations = tokens.updateDeco(update, this.decorations);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

/** A line that opens a bracket folds up to the next one that is indented as little. */
const folds = foldService.of((state, start, end) => {
  const line = state.doc.sliceString(start, end);
  if (!/[[{]\s*$/.test(line)) return null;
  const depth = line.search(/\S/);
  let number = state.doc.lineAt(start).number;
  const last = Math.min(state.doc.lines, number + FOLD_MAX_LINES);
  while (++number <= last) {
    const { from, text } = state.doc.line(number);
    const indent = text.search(/\S/);
    if (indent >= 0 && indent <= depth) return { from: start + line.trimEnd().length, to: from + indent };
  }
  return null;
});

/** @type {Extension} */
export const largeJson = [colours, folds, foldGutter(), keymap.of(foldKeymap)];

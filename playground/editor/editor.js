// The text editor of the playground: CodeMirror, behind an interface that a WebAssembly module can
// call. Whoever includes it needs editor.css for the colours, and no exception in its
// Content-Security-Policy.

import { defaultKeymap, history, historyKeymap, isolateHistory, redo, redoDepth, undo, undoDepth } from "@codemirror/commands";
import { search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, Text } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { comparison } from "./comparison.js";
import { features } from "./features.js";
import { places, setPlaces } from "./places.js";
import { offsetOf, rangeOf } from "./positions.js";
import { problemKeymap, problems, showProblems } from "./problems.js";
import { TextCache } from "./text-cache.js";
import { theme } from "./theme.js";

/** @import { Extension, TransactionSpec } from "@codemirror/state" */
/** @import { LanguageName } from "./languages.js" */
/** @import { Place, Position } from "./positions.js" */
/** @import { Problem } from "./problems.js" */

/** @typedef {{ language: LanguageName, label: string, readOnly: boolean, placeholder?: string }} Options */
/** @typedef {Place & { insert: string }} Edit */

export class Editor {
  /** @type {EditorView} */
  #view;
  /** @type {Options} */
  #options;
  /** @type {() => void} */
  #onChange;
  /** @type {TextCache} */
  #cache;
  /** @type {string | null} */
  #original = null;
  #comparison = new Compartment();

  /**
   * @param {HTMLElement} parent is filled by the editor
   * @param {Options} options `label` is the name for screen readers
   * @param {() => void} onChange called after each change, but not those of `setText`
   */
  constructor(parent, options, onChange) {
    this.#options = options;
    this.#onChange = onChange;
    this.#cache = new TextCache("");
    this.#view = new EditorView({ state: this.#state(""), parent });
  }

  /** @returns {string} the text, with "\n" line ends */
  text() {
    return this.#cache.text(this.#view.state.doc);
  }

  /**
   * Puts another text in its place. It cannot be undone, and `onChange` is not called.
   * A read-only editor stays scrolled to where it is.
   * @param {string} text
   */
  setText(text) {
    const normal = withNewlines(text);
    const { scrollTop, scrollLeft } = this.#view.scrollDOM;
    this.#view.setState(this.#state(normal));
    this.#cache = new TextCache(normal);
    this.#view.scrollDOM.scrollTo(this.#options.readOnly ? { top: scrollTop, left: scrollLeft } : { top: 0, left: 0 });
  }

  /**
   * Replaces all of the text, as one step that can be undone.
   * @param {string} text
   */
  replaceAll(text) {
    const after = withNewlines(text);
    const before = this.text();
    // What is the same stays untouched, and with it selection, folding and scroll position.
    const shorter = Math.min(before.length, after.length);
    let same = 0;
    while (same < shorter && before.charCodeAt(same) === after.charCodeAt(same)) same++;
    let sameEnd = 0;
    while (
      sameEnd < shorter - same &&
      before.charCodeAt(before.length - 1 - sameEnd) === after.charCodeAt(after.length - 1 - sameEnd)
    ) {
      sameEnd++;
    }
    if (same === before.length && same === after.length) return;
    this.#step({
      changes: { from: same, to: before.length - sameEnd, insert: after.slice(same, after.length - sameEnd) },
    });
  }

  /** @param {Problem[]} list the problems to show, instead of those before */
  setDiagnostics(list) {
    this.#view.dispatch(showProblems(this.#view.state, list));
  }

  /** @param {Place[]} list the places to mark with a background, instead of those before */
  highlight(list) {
    this.#view.dispatch({ effects: setPlaces.of(list) });
  }

  /**
   * Selects a place and scrolls it to the middle. Of a place outside the text, the nearest inside.
   * @param {Position} start
   * @param {Position} end
   * @param {boolean} focus whether the editor gets the keyboard
   */
  reveal(start, end, focus) {
    const { from, to } = rangeOf(this.#view.state.doc, { start, end });
    this.#view.dispatch({
      selection: { anchor: from, head: to },
      effects: EditorView.scrollIntoView(from, { y: "center" }),
    });
    if (focus) this.#view.focus();
  }

  /** @param {Edit[]} list is done as one step that can be undone; places are those before it */
  applyEdits(list) {
    if (list.length === 0) return;
    const { state } = this.#view;
    const changes = state.changes(
      list.map((edit) => ({ ...rangeOf(state.doc, edit), insert: state.toText(withNewlines(edit.insert)) })),
    );
    const first = Math.min(...list.map((edit) => offsetOf(state.doc, edit.start)));
    this.#step({ changes, effects: EditorView.scrollIntoView(changes.mapPos(first), { y: "center" }) });
  }

  /** @returns {boolean} whether there was something to undo */
  undo() {
    return undo(this.#view);
  }

  /** @returns {boolean} whether there was something to redo */
  redo() {
    return redo(this.#view);
  }

  /** @returns {boolean} */
  canUndo() {
    return undoDepth(this.#view.state) > 0;
  }

  /** @returns {boolean} */
  canRedo() {
    return redoDepth(this.#view.state) > 0;
  }

  /**
   * Shows what is different from `original`, also after the next `setText`, until null is given.
   * For read-only editors.
   * @param {string | null} original
   * @returns {boolean} whether it is shown; it is not if one of the texts is too large
   */
  compare(original) {
    this.#original = original == null ? null : withNewlines(original);
    const extension = this.#compared(this.#view.state.doc.length);
    this.#view.dispatch({ effects: this.#comparison.reconfigure(extension ?? []) });
    return extension !== null;
  }

  focus() {
    this.#view.focus();
  }

  /** Takes the editor out of the page. Nothing may be called after it. */
  destroy() {
    this.#view.destroy();
  }

  /** @param {TransactionSpec} spec is done as a step of its own for undo */
  #step(spec) {
    this.#view.dispatch({ ...spec, annotations: isolateHistory.of("full") });
  }

  /**
   * @param {number} length of the text to compare
   * @returns {Extension | null}
   */
  #compared(length) {
    return this.#original === null ? null : comparison(this.#original, length);
  }

  /**
   * @param {string} text with "\n" line ends
   * @returns {EditorState}
   */
  #state(text) {
    const { language, label, readOnly } = this.#options;
    const doc = Text.of(text.split("\n"));
    return EditorState.create({
      doc,
      extensions: [
        // Without it, a carriage return alone would become a line end, and the lines would not be
        // those of the engine.
        EditorState.lineSeparator.of("\n"),
        EditorView.clipboardInputFilter.of(withNewlines),
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
        readOnly
          ? [
              EditorState.readOnly.of(true),
              // Not editable, so that a touch opens no keyboard; but still in the order of Tab.
              EditorView.editable.of(false),
              EditorView.contentAttributes.of({ tabindex: "0" }),
            ]
          : [history(), keymap.of(historyKeymap)],
        this.#options.placeholder ? placeholder(this.#options.placeholder) : [],
        lineNumbers(),
        features(language, doc),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        drawSelection(),
        places,
        problems,
        search({ top: true }),
        // Tab is not among the keys: it leaves the editor, as everywhere else.
        keymap.of([...problemKeymap, ...searchKeymap, ...defaultKeymap]),
        this.#comparison.of(this.#compared(text.length) ?? []),
        theme,
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          this.#cache.update(update.changes);
          this.#onChange();
        }),
      ],
    });
  }
}

/**
 * @param {string} text
 * @returns {string} the same with "\n" for "\r\n"
 */
function withNewlines(text) {
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}

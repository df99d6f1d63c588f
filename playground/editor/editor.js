// The text editor of the playground: CodeMirror, behind an interface that a WebAssembly module can
// call. A page needs editor.css for the colours, and no exception in its Content-Security-Policy.

import { history, historyKeymap, isolateHistory, redo, redoDepth, undo, undoDepth } from "@codemirror/commands";
import { Annotation, Compartment, EditorState, Text } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { arrivals } from "./arrivals.js";
import { assistance } from "./assistance.js";
import { difference } from "./difference.js";
import { features, showProblems } from "./featuring.js";
import { largePaste, pasted } from "./large-paste.js";
import { wrapping } from "./lines.js";
import { places, setPlaces } from "./places.js";
import { offsetOf, rangeOf } from "./positions.js";
import { replacing } from "./replacing.js";
import { searching } from "./searching.js";
import { specialChars } from "./special-chars.js";
import { TextCache } from "./text-cache.js";
import { theme } from "./theme.js";

/** @import { TransactionSpec } from "@codemirror/state" */
/** @import { Surroundings } from "./assistance.js" */
/** @import { LanguageName } from "./languages.js" */
/** @import { MarkedPlace } from "./places.js" */
/** @import { Place, Position } from "./positions.js" */
/** @import { Problem, ProblemActions } from "./problems.js" */

/**
 * @typedef {object} OwnOptions
 * @property {LanguageName} language
 * @property {string} label the name of the document, also for screen readers
 * @property {boolean} readOnly
 * @property {string} [placeholder]
 * @property {boolean} [wrapped]
 * @property {(text: string) => boolean} [divert] takes a text that is pasted or dropped, if it belongs elsewhere
 * @property {Surroundings["textOf"]} [textOf] the texts of the other documents, by their names
 */
/** @typedef {OwnOptions & ProblemActions} Options */
/** @typedef {Place & { insert: string }} Edit */

/** Loaded with the first comparison. @type {typeof import("./comparison.js") | undefined} */
let comparing;

/** Marks a change by the page. */
const silent = /** @type {import("@codemirror/state").AnnotationType<boolean>} */ (Annotation.define());

export * from "./codemirror.js";
export { loadFeatures } from "./featuring.js";

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
  #wrapping = new Compartment();

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
   * Replaces the text and removes all marks. It cannot be undone, and `onChange` is not called. A
   * read-only editor keeps its scroll position.
   * @param {string} text
   */
  setText(text) {
    const after = withNewlines(text);
    if (this.#options.readOnly) {
      this.#view.dispatch(
        { changes: difference(this.text(), after), annotations: silent.of(true) },
        { effects: [setPlaces.of([]), ...this.#comparisonOf(after.length).effects] },
      );
      showProblems(this.#view, []);
    } else {
      this.#view.setState(this.#state(after));
      this.#view.scrollDOM.scrollTo(0, 0);
    }
    this.#cache = new TextCache(after);
  }

  /**
   * Replaces all of the text, as one step that can be undone.
   * @param {string} text
   */
  replaceAll(text) {
    const changes = difference(this.text(), withNewlines(text));
    if (changes) this.#step({ changes });
  }

  /** @param {Problem[]} list the problems to show, instead of those before */
  setDiagnostics(list) {
    showProblems(this.#view, list, this.#options);
  }

  /** @param {MarkedPlace[]} list the places to mark with a background, instead of those before */
  highlight(list) {
    this.#view.dispatch({ effects: setPlaces.of(list) });
  }

  /**
   * Scrolls a place to the middle, and selects it if the editor gets the keyboard. A place outside the
   * text becomes the nearest one inside.
   * @param {Position} start
   * @param {Position} end
   * @param {boolean} focus whether the editor gets the keyboard
   */
  reveal(start, end, focus) {
    const { from, to } = rangeOf(this.#view.state.doc, { start, end });
    const effects = EditorView.scrollIntoView(from, { y: "center" });
    if (!focus) {
      // The cursor stays where the user types.
      this.#view.dispatch({ effects });
      return;
    }
    this.#view.dispatch({ selection: { anchor: from, head: to }, effects });
    this.#view.focus();
  }

  /**
   * @param {Position} start
   * @param {Position} end
   * @param {number} limit of characters of each
   * @returns {[string, string]} the text of the line before a place, and the start of the text there
   */
  excerpt(start, end, limit) {
    const { doc } = this.#view.state;
    const { from, to } = rangeOf(doc, { start, end });
    const line = Math.max(doc.lineAt(from).from, from - limit);
    return [doc.sliceString(line, from), doc.sliceString(from, Math.min(to, from + limit))];
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
   * Shows the differences from `original`, also after the next `setText`, until `original` is null.
   * For read-only editors.
   * @param {string | null} original
   * @returns {Promise<boolean>} whether it is shown; it is not if one of the texts is too large, or the
   * module for it can't be loaded
   */
  async compare(original) {
    this.#original = original == null ? null : withNewlines(original);
    if (this.#original !== null) comparing ??= await import("./comparison.js").catch(() => undefined);
    const { shown, effects } = this.#comparisonOf(this.#view.state.doc.length);
    this.#view.dispatch({ effects });
    return shown;
  }

  /** @param {boolean} wrapped whether lines are broken where they don't fit */
  setWrapped(wrapped) {
    this.#options = { ...this.#options, wrapped };
    this.#view.dispatch({ effects: this.#wrapping.reconfigure(wrapped ? wrapping(this.#view.state.doc) : []) });
  }

  focus() {
    this.#view.focus();
  }

  /** Removes the editor from the page. It must not be used afterwards. */
  destroy() {
    this.#view.destroy();
  }

  /** @param {TransactionSpec} spec is done as a separate step for undo */
  #step(spec) {
    this.#view.dispatch({ ...spec, annotations: isolateHistory.of("full") });
  }

  /** @param {number} length of the text to compare */
  #comparisonOf(length) {
    const extension = this.#original === null ? null : (comparing?.comparison(this.#original, length) ?? null);
    return { shown: extension !== null, effects: [this.#comparison.reconfigure(extension ?? [])] };
  }

  /**
   * @param {string} text with "\n" line ends
   * @returns {EditorState}
   */
  #state(text) {
    const { language, label, readOnly, wrapped, divert, textOf } = this.#options;
    const doc = Text.of(text.split("\n"));
    return EditorState.create({
      doc,
      extensions: [
        // Otherwise a lone carriage return would end a line here, but not in the engine.
        EditorState.lineSeparator.of("\n"),
        EditorView.clipboardInputFilter.of(withNewlines),
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
        readOnly
          ? [
              EditorState.readOnly.of(true),
              // A touch opens no keyboard. Real keyboards still scroll and select.
              EditorView.editable.of(false),
            ]
          : [
              history(),
              keymap.of(historyKeymap),
              arrivals((text) => divert?.(withNewlines(text)) ?? false),
              largePaste(withNewlines),
              replacing,
              assistance({ document: label, language, text: () => this.text(), textOf: textOf ?? (() => "") }),
            ],
        this.#options.placeholder ? placeholder(this.#options.placeholder) : [],
        lineNumbers(),
        this.#wrapping.of(wrapped ? wrapping(doc) : []),
        features(language, doc),
        specialChars(doc),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        drawSelection(),
        places,
        searching(),
        this.#comparison.of([]),
        theme,
        EditorView.updateListener.of(({ docChanged, transactions, changes }) => {
          const isEndOfPaste = transactions.some((each) => each.annotation(pasted) === false);
          const isQuiet = transactions.every((each) => each.annotation(silent) || each.annotation(pasted));
          if (docChanged && !transactions.every((each) => each.annotation(silent))) this.#cache.update(changes);
          if (isEndOfPaste || (docChanged && !isQuiet)) this.#onChange();
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

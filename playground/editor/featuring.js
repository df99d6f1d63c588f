// The features of an editor: in a separate module, loaded once the page has its first answer, or with the first use of an
// editor. Nothing before the first verdict needs them.

import { Compartment } from "@codemirror/state";
import { EditorView, GutterMarker, ViewPlugin, gutter } from "@codemirror/view";
import { isJson } from "./notation.js";

/** @import { Extension, Text } from "@codemirror/state" */
/** @import { LanguageName } from "./languages.js" */
/** @import { Problem, ProblemActions } from "./problems.js" */

/** @typedef {typeof import("./features.js")} Module */

/** @type {Module | undefined} */
let module;

const part = new Compartment();

/** The editors that wait: the features of each, and its problems. @type {Map<EditorView, Waiting>} */
const waiting = new Map();

/**
 * @typedef {object} Waiting
 * @property {LanguageName} language
 * @property {Problem[]} problems
 * @property {ProblemActions} [actions]
 */

/** Loads the features of all editors. Where they can't be loaded now, that is tried again with the next use. */
export async function loadFeatures() {
  module ??= await import("./features.js").catch(() => undefined);
  if (!module) return;
  for (const [view, { language, problems, actions }] of waiting) {
    view.dispatch({ effects: part.reconfigure(module.features(language, view.state.doc)) });
    if (problems.length > 0) showProblems(view, problems, actions);
  }
}

/**
 * @param {LanguageName} language
 * @param {Text} doc the text at first
 * @returns {Extension}
 */
export function features(language, doc) {
  if (module) return part.of(module.features(language, doc));
  const load = () => void loadFeatures();
  return part.of([
    EditorView.domEventHandlers({ focus: load, mousemove: load }),
    room("cm-gutter-lint"),
    isJson(language, doc) ? room("cm-foldGutter") : [],
    ViewPlugin.define((view) => {
      waiting.set(view, { language, problems: [] });
      return { destroy: () => void waiting.delete(view) };
    }),
  ]);
}

/**
 * @param {EditorView} view
 * @param {Problem[]} problems to show, instead of those before
 * @param {ProblemActions} [actions]
 */
export function showProblems(view, problems, actions) {
  const last = waiting.get(view);
  if (last) waiting.set(view, { ...last, problems, actions });
  else if (module) view.dispatch(module.showProblems(view.state, problems, actions));
}

/** Nothing, in the width of a gutter that comes later. @param {string} name */
function room(name) {
  return gutter({ class: name, initialSpacer: () => new (class extends GutterMarker {})() });
}

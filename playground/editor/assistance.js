// Completion, hovers and quick fixes: in a separate module, loaded with the first use of an editor.
// Nothing before the first verdict needs them.

import { Compartment } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";

/** @import { Extension } from "@codemirror/state" */
/** @import { LanguageName } from "./languages.js" */

/**
 * What completion knows of the page.
 * @typedef {object} Surroundings
 * @property {string} document its name, such as `agents.md`
 * @property {LanguageName} language
 * @property {() => string} text of this editor
 * @property {(document: string) => string} textOf the text of another document; empty if the text is missing
 */

/** @typedef {typeof import("./completion.js")} Module */

/** @type {Module | undefined} */
let module;

const part = new Compartment();

/** @returns {Promise<Module | undefined>} nothing if it can't be loaded now */
async function load() {
  try {
    module ??= await import("./completion.js");
  } catch {
    // It is tried again at the next use.
  }
  return module;
}

/**
 * @param {Surroundings} surroundings
 * @returns {Extension}
 */
export function assistance(surroundings) {
  if (module) return part.of(module.completion(surroundings));

  /** @param {EditorView} view @param {(module: Module) => void} [then] */
  const begin = async (view, then) => {
    const loaded = await load();
    if (!loaded) return;
    if (part.get(view.state) === waiting) {
      view.dispatch({ effects: part.reconfigure(loaded.completion(surroundings)) });
    }
    then?.(loaded);
  };
  /** @param {EditorView} view */
  const start = (view) => void begin(view);
  const waiting = [
    EditorView.domEventHandlers({ focus: (_, view) => start(view), mousemove: (_, view) => start(view) }),
    keymap.of([
      { key: "Ctrl-Space", run: (view) => (begin(view, (loaded) => loaded.startCompletion(view)), true) },
      { key: "Mod-.", run: (view) => (begin(view, (loaded) => loaded.startQuickFix(view)), true) },
    ]),
  ];
  return part.of(waiting);
}

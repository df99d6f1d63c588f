// Search: in a separate module, loaded with the first use of an editor. Nothing before the first verdict needs it.

import { Compartment } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";

/** @import { Extension } from "@codemirror/state" */

/** The keys of the search. Its Escape closes a panel, which another key has opened. */
const KEYS = ["Mod-f", "F3", "Mod-g", "Mod-Shift-l", "Mod-Alt-g", "Mod-d"];

/** @type {typeof import("./search.js") | undefined} */
let module;

const part = new Compartment();

/** @param {EditorView} view @param {string} [key] is done once there is a search */
async function begin(view, key) {
  // Where it can't be loaded now, it is tried again with the next use.
  module ??= await import("./search.js").catch(() => undefined);
  if (!module) return;
  if (part.get(view.state) === waiting) view.dispatch({ effects: part.reconfigure(module.extension) });
  module.bindings.find((it) => it.key === key)?.run?.(view);
}

const waiting = [
  EditorView.domEventHandlers({ focus: (_, view) => void begin(view), mousemove: (_, view) => void begin(view) }),
  keymap.of(KEYS.map((key) => ({ key, run: (/** @type {EditorView} */ view) => (begin(view, key), true) }))),
];

/** @returns {Extension} */
export function searching() {
  return part.of(module ? module.extension : waiting);
}

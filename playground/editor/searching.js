// Search: in a separate module, loaded when the browser is idle. Nothing before the first verdict needs it.

import { Compartment } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";

/** @import { Extension } from "@codemirror/state" */

/** The keys of the search. Its Escape closes a panel, which another key has opened. */
const KEYS = ["Mod-f", "F3", "Mod-g", "Mod-Shift-l", "Mod-Alt-g", "Mod-d"];

/** @type {typeof import("./search.js") | undefined} */
let module;

const part = new Compartment();

/** Whether a key waits for the module. What is typed meanwhile is not for the text. */
let isAwaited = false;

async function load() {
  // Where it can't be loaded now, it is tried again with the next key.
  module ??= await import("./search.js").catch(() => undefined);
  return module;
}

/** @param {EditorView} view @param {string} key is done once there is a search */
async function press(view, key) {
  isAwaited = true;
  const loaded = await load();
  isAwaited = false;
  if (!loaded) return;
  if (part.get(view.state) === waiting) view.dispatch({ effects: part.reconfigure(loaded.extension) });
  loaded.bindings.find((it) => it.key === key)?.run?.(view);
}

const waiting = [
  EditorView.domEventHandlers({ beforeinput: (event) => isAwaited && (event.preventDefault(), true) }),
  keymap.of(KEYS.map((key) => ({ key, run: (/** @type {EditorView} */ view) => (press(view, key), true) }))),
];

/** @returns {Extension} */
export function searching() {
  if (module) return part.of(module.extension);
  // Not every browser says when it is idle.
  (globalThis.requestIdleCallback ?? setTimeout)(load);
  return part.of(waiting);
}

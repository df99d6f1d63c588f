// The search of a text, which searching.js loads with its first use.

import { search, searchKeymap } from "@codemirror/search";
import { keymap } from "@codemirror/view";

/** @import { KeyBinding } from "@codemirror/view" */

/** @type {readonly KeyBinding[]} */
export const bindings = searchKeymap;

export const extension = [search({ top: true }), keymap.of(searchKeymap)];

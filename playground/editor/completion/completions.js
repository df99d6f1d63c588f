// What is offered at the cursor: the keys that are not there yet, closed values, and the names that the
// other documents have.

import { startCompletion } from "@codemirror/autocomplete";
import { EditorSelection } from "@codemirror/state";
import { prose } from "../prose.js";
import { resolve } from "./bundle.js";
import { entry, written } from "./notation.js";
import { placeAt } from "./place.js";
import { closedValues, descriptionOf, knownKeys, typesOf } from "./schema.js";

/** @import { Completion, CompletionSource } from "@codemirror/autocomplete" */
/** @import { EditorState } from "@codemirror/state" */
/** @import { EditorView } from "@codemirror/view" */
/** @import { Surroundings } from "../assistance.js" */
/** @import { Schema } from "./schema.js" */
/** @import { Site } from "./tree.js" */

/** A longer text is read on request only: it takes more time than a key may. */
const TYPING_MAX_UNITS = 300_000;

/** What a word may have while its completions stay the same. */
const SAME_WORD = /^[\w.:@/*~+-]*$/;

/** The largest difference from the usual rank of a completion. */
const BOOST_MAX = 99;

/**
 * @param {Surroundings} surroundings
 * @returns {CompletionSource}
 */
export function completions(surroundings) {
  return ({ state, pos, explicit }) => {
    if (!explicit && state.doc.length > TYPING_MAX_UNITS) return null;
    const place = placeAt(surroundings, pos);
    if (!place) return null;
    const { site, schemas } = place;
    if (!explicit && site.from === pos) return null;
    const options = [];
    if (site.slot === "value") options.push(...values(site, schemas));
    if (site.slot === "key" || site.opensMapping) options.push(...keys(site, schemas));
    if (options.length === 0) return null;
    return { from: site.from + quote(state, site), to: site.to, options, validFor: SAME_WORD };
  };
}

/**
 * @param {EditorState} state
 * @param {Site} site
 * @returns {number} the length of the quote that its word begins with
 */
function quote(state, { from, to }) {
  return /^["']/.test(state.sliceDoc(from, Math.min(from + 1, to))) ? 1 : 0;
}

/**
 * @param {Site} site
 * @param {Schema[]} schemas of the mapping
 * @returns {Completion[]}
 */
function keys(site, schemas) {
  const { value } = site.holder;
  const there = value?.kind === "map" ? value.entries.map(({ key }) => key) : [];
  const options = [];
  for (const [key, known] of knownKeys(schemas)) {
    if (there.includes(key) && key !== site.word) continue;
    options.push({
      label: key,
      detail: known.required ? "required" : undefined,
      boost: known.required ? 1 : 0,
      info: explained(known.description || descriptionOf(known.schemas, resolve)),
      apply: insertion(site, (rest) => {
        if (/^[ \t]*:/.test(rest)) return [written(key, site.notation), ""];
        return entry(key, typesOf(known.schemas, resolve), site);
      }),
    });
  }
  return options;
}

/**
 * @param {Site} site
 * @param {Schema[]} schemas of the value
 * @returns {Completion[]}
 */
function values(site, schemas) {
  return [...closedValues(schemas)].map(([value, description], at) => ({
    label: String(value),
    boost: Math.max(-at, -BOOST_MAX),
    info: explained(description),
    apply: insertion(site, () => [written(value, site.notation), ""]),
  }));
}

/**
 * @param {string} text
 * @returns {Completion["info"]}
 */
function explained(text) {
  if (!text) return undefined;
  return () => {
    const box = document.createElement("div");
    box.append(...prose(text));
    return box;
  };
}

/**
 * @param {Site} site
 * @param {(rest: string) => [string, string]} write the text before the cursor and behind it, for the rest of the line
 * @returns {(view: EditorView, completion: Completion, from: number, to: number) => void} replaces the word at the cursor
 */
function insertion(site, write) {
  return (view, _, wordFrom, wordTo) => {
    const { doc } = view.state;
    const from = wordFrom - quote(view.state, site);
    const line = doc.lineAt(wordTo);
    const rest = doc.sliceString(wordTo, line.to);
    const [before, behind] = write(rest);
    const commas = site.notation === "block" ? { before: null, behind: "" } : missingCommas(doc, from, wordTo);
    const changes = [{ from, to: wordTo, insert: before + behind + commas.behind }];
    if (commas.before !== null) changes.unshift({ from: commas.before, to: commas.before, insert: "," });
    const cursor = from + before.length + (commas.before === null ? 0 : 1);
    view.dispatch({
      changes,
      selection: EditorSelection.cursor(cursor),
      scrollIntoView: true,
      userEvent: "input.complete",
    });
    if (/[:[{"-] ?$/.test(before) || before.endsWith("\n")) startCompletion(view);
  };
}

/** How far around the cursor commas are looked for. */
const AROUND = 2_000;

/**
 * @param {import("@codemirror/state").Text} doc
 * @param {number} from
 * @param {number} to
 * @returns {{ before: number | null, behind: string }} where a comma is missing before a member, and the one behind it
 */
function missingCommas(doc, from, to) {
  const before = doc.sliceString(Math.max(0, from - AROUND), from).trimEnd();
  const behind = doc.sliceString(to, Math.min(doc.length, to + AROUND)).trimStart();
  const above = from - (doc.sliceString(Math.max(0, from - AROUND), from).length - before.length);
  return {
    before: before === "" || /[{[,:]$/.test(before) ? null : above,
    behind: behind === "" || /^[}\],:\n#-]/.test(behind) ? "" : ",",
  };
}

// What is offered at the cursor: the keys that are not there yet, closed values, and the names that the
// other documents have.

import { startCompletion } from "@codemirror/autocomplete";
import { EditorSelection } from "@codemirror/state";
import { prose } from "../prose.js";
import { resolve } from "./bundle.js";
import { entry, written } from "./notation.js";
import { placeAt } from "./place.js";
import { closedValues, descriptionOf, knownKeys, typesOf } from "./schema.js";
import { namesAt } from "./vocabulary.js";

/** @import { Completion, CompletionSource } from "@codemirror/autocomplete" */
/** @import { EditorState } from "@codemirror/state" */
/** @import { EditorView } from "@codemirror/view" */
/** @import { Surroundings } from "../assistance.js" */
/** @import { Term } from "./names.js" */
/** @import { Place } from "./place.js" */
/** @import { Schema } from "./schema.js" */
/** @import { Site } from "./tree.js" */

/** A longer text is read on request only: it takes more time than a key may. */
const TYPING_MAX_UNITS = 300_000;

/** What a word may have while its completions stay the same. */
const SAME_WORD = /^[\w.:@/*~+-]*$/;

/** The largest difference from the usual rank of a completion. */
const BOOST_MAX = 99;

/** A completion that may be the last of its line. @typedef {Completion & { mayEndLine?: boolean }} Ending */

/**
 * @param {Surroundings} surroundings
 * @returns {CompletionSource}
 */
export function completions(surroundings) {
  return ({ state, pos, explicit }) => {
    if (!explicit && state.doc.length > TYPING_MAX_UNITS) return null;
    const place = placeAt(surroundings, pos, explicit);
    if (!place) return null;
    const { site } = place;
    if (!explicit && site.from === pos) return null;
    const item = place.item();
    const options = [
      ...offered(surroundings.document, place, inserting(site, site.to - pos, "")),
      ...(item ? offered(surroundings.document, item, inserting(site, site.to - pos, "- ")) : []),
    ];
    if (options.length === 0) return null;
    return { from: site.from + quote(state, site), options, validFor: SAME_WORD };
  };
}

/**
 * @param {string} document
 * @param {Place} place
 * @param {Insert} insert
 * @returns {Completion[]} what belongs there
 */
function offered(document, { site, schemas, lookup }, insert) {
  const names = (/** @type {Site["slot"]} */ slot) => namesAt(document, slot, lookup);
  const options = [];
  if (site.slot === "value") options.push(...values(site, schemas, names("value"), insert));
  if (site.slot === "key" || site.opensMapping) options.push(...keys(site, schemas, names("key"), insert));
  return options;
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
 * @param {Term[]} names of keys that other documents have
 * @param {Insert} insert
 * @returns {Completion[]}
 */
function keys(site, schemas, names, insert) {
  const asKey = (/** @type {string} */ key, /** @type {string[]} */ types) =>
    insert((rest) => (/^[ \t]*:/.test(rest) ? [written(key, site.notation), ""] : entry(key, types, site)));
  const { value } = site.holder;
  const there = value?.kind === "map" ? value.entries.map(({ key }) => key) : [];
  const isNew = (/** @type {string} */ key) => key === site.word || !there.includes(key);
  const known = [...knownKeys(schemas)].filter(([key]) => isNew(key)).map(([key, { required, schemas: inside, description }]) => ({
    label: key,
    detail: required ? "required" : undefined,
    boost: required ? 1 : 0,
    info: explained(description || descriptionOf(inside, resolve)),
    apply: asKey(key, typesOf(inside, resolve)),
  }));
  const others = names.filter(({ label }) => isNew(label)).map((term) => ({ ...shown(term), apply: asKey(term.label, []) }));
  return [...known, ...others];
}

/**
 * @param {Site} site
 * @param {Schema[]} schemas of the value
 * @param {Term[]} names that other documents have
 * @param {Insert} insert
 * @returns {Ending[]}
 */
function values(site, schemas, names, insert) {
  const asValue = (/** @type {unknown} */ value) => insert(() => [written(value, site.notation), ""]);
  const closed = [...closedValues(schemas)].map(([value, description]) => ({
    label: String(value),
    info: explained(description),
    apply: asValue(value),
  }));
  const labels = closed.map(({ label }) => label);
  const others = names.filter(({ label }) => !labels.includes(label)).map((term) => ({ ...shown(term), apply: asValue(term.label) }));
  const mayEndLine = site.notation === "block";
  return [...closed, ...others].map((option, at) => ({ ...option, mayEndLine, boost: Math.max(-at, -BOOST_MAX) }));
}

/**
 * @param {Term} term
 * @returns {Completion}
 */
function shown({ label, detail, info }) {
  // The empty pointer is the whole.
  return { label, displayLabel: label || '""', detail, info: explained(info ?? "") };
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

/** @typedef {(rest: string) => [string, string]} Write the text before the cursor and behind it, for the rest of the line */
/** @typedef {(write: Write) => (view: EditorView, completion: Completion, from: number, to: number) => void} Insert */

/**
 * @param {Site} site
 * @param {number} tail the length of what is behind the cursor of its word
 * @param {string} mark what an item begins with
 * @returns {Insert} replaces the word
 */
function inserting(site, tail, mark) {
  return (write) => (view, _, wordFrom, cursor) => {
    const { doc } = view.state;
    const from = wordFrom - quote(view.state, site);
    const to = Math.min(cursor + tail, doc.length);
    const [text, behind] = write(doc.sliceString(to, doc.lineAt(to).to));
    const before = mark + text;
    const commas = site.notation === "block" ? { before: null, behind: "" } : missingCommas(doc, from, to);
    const changes = [{ from, to, insert: before + behind + commas.behind }];
    if (commas.before !== null) changes.unshift({ from: commas.before, to: commas.before, insert: "," });
    view.dispatch({
      changes,
      selection: EditorSelection.cursor(from + before.length + (commas.before === null ? 0 : 1)),
      scrollIntoView: true,
      userEvent: "input.complete",
    });
    // What the value may be follows by itself.
    if (behind !== "" || before.endsWith(" ")) startCompletion(view);
  };
}

/** How far around the cursor commas are searched. */
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

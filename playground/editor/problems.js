// Problems in the text: underlined, a mark in the gutter, and a tooltip with message, code, help and
// fixes, which opens on hovering and on F8.

import {
  forEachDiagnostic,
  lintGutter,
  linter,
  nextDiagnostic,
  openLintPanel,
  previousDiagnostic,
  setDiagnostics,
} from "@codemirror/lint";
import { EditorView } from "@codemirror/view";
import { PROBLEMS_MAX_COUNT } from "./limits.js";
import { rangeOf } from "./positions.js";
import { prose } from "./prose.js";

/** @import { EditorState, TransactionSpec } from "@codemirror/state" */
/** @import { Command, KeyBinding } from "@codemirror/view" */
/** @import { Diagnostic } from "@codemirror/lint" */
/** @import { Place } from "./positions.js" */

/** @typedef {{ title: string, widens: boolean }} Fix */

/**
 * @typedef {object} Said
 * @property {"error" | "warning" | "note"} severity
 * @property {string} code
 * @property {string} [page] the address of the page about the code
 * @property {string} message
 * @property {string} [cause] what the place itself says, such as the reason of a parser
 * @property {string[]} [also] other places, and what they say
 * @property {string[]} [help]
 * @property {Fix[]} [fixes] those that can be applied
 * @property {number} [number] that identifies it to the page
 */
/** @typedef {Place & Said} Problem */

/**
 * What the page does about a problem.
 * @typedef {object} ProblemActions
 * @property {(problem: number, fix: number) => void} [applyFix]
 * @property {(problem: number) => void} [explain] shows the page about its code
 */

/** The mark of a fix that is no repair. The page's lists have the same words. */
const WIDENS = "changes what is asked for or allowed";

/** The severities by the names of CodeMirror. */
const SEVERITIES = /** @type {const} */ ({ error: "error", warning: "warning", note: "info" });

/** Problems come from the page, not from a linter of the editor. */
export const problems = linter(null);

export const problemGutter = lintGutter();

/** @type {readonly KeyBinding[]} */
export const problemKeymap = [
  { key: "F8", run: announced(nextDiagnostic), shift: announced(previousDiagnostic), preventDefault: true },
  { key: "Mod-Shift-m", run: openLintPanel, preventDefault: true },
];

/**
 * @param {EditorState} state
 * @param {readonly Problem[]} list
 * @param {ProblemActions} [actions]
 * @returns {TransactionSpec}
 */
export function showProblems(state, list, actions = {}) {
  return setDiagnostics(
    state,
    list.slice(0, PROBLEMS_MAX_COUNT).map((problem) => ({
      ...rangeOf(state.doc, problem),
      severity: SEVERITIES[problem.severity],
      message: spoken(problem),
      renderMessage: () => rendered(problem, actions),
      actions: (problem.fixes ?? []).map(({ title, widens }, at) => ({
        name: (widens ? `${title} (${WIDENS})` : title).replaceAll("`", ""),
        markClass: widens ? "cm-problem-widening" : "",
        apply: () => actions.applyFix?.(problem.number ?? 0, at),
      })),
    })),
  );
}

/**
 * @param {Problem} problem
 * @param {ProblemActions} actions
 * @returns {HTMLElement}
 */
function rendered(problem, actions) {
  const box = document.createElement("div");
  const head = box.appendChild(document.createElement("div"));
  head.append(code(problem, actions), ": ", ...prose(problem.message));
  if (problem.cause) head.append(": ", ...prose(problem.cause));
  /** @param {string} text */
  const line = (text) => {
    const below = box.appendChild(document.createElement("div"));
    below.className = "cm-problem-help";
    below.append(...prose(text));
  };
  problem.also?.forEach(line);
  problem.help?.forEach((help) => line(`help: ${help}`));
  return box;
}

/**
 * @param {Problem} problem
 * @param {ProblemActions} actions
 * @returns {HTMLElement} its severity and code, which leads to the page about it
 */
function code({ severity, code: name, page, number = 0 }, { explain }) {
  const shown = document.createElement(page ? "a" : "span");
  shown.className = "cm-problem-code";
  shown.textContent = `${severity}[${name}]`;
  if (shown instanceof HTMLAnchorElement && page) {
    Object.assign(shown, { href: page, target: "_blank", rel: "noreferrer" });
    shown.onclick = (event) => {
      if (!explain || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      explain(number);
    };
  }
  return shown;
}

/** @param {Problem} problem */
function spoken({ severity, code: name, message, cause, also = [], help = [], fixes = [] }) {
  const head = `${severity} ${name}: ${message}${cause ? `: ${cause}` : ""}`;
  const rest = [...also.map((text) => ` ${text}`), ...help.map((text) => ` Help: ${text}`), ...fixes.map(({ title }) => ` Fix: ${title}`)];
  return (head + rest.join("")).replaceAll("`", "");
}

/**
 * @param {Command} move
 * @returns {Command} the same; it also announces the problem to screen readers, which see no tooltip
 */
function announced(move) {
  return (view) => {
    if (!move(view)) return false;
    const { from, to } = view.state.selection.main;
    /** @type {Diagnostic[]} */
    const here = [];
    forEachDiagnostic(view.state, (diagnostic, start, end) => {
      if (start <= from && to <= end) here.push(diagnostic);
    });
    view.dispatch({ effects: here.map(({ message }) => EditorView.announce.of(message)) });
    return true;
  };
}

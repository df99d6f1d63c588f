// Problems in the text: underlined, a mark in the gutter, and a tooltip with message, code and
// help, which opens on hovering and on F8.

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

/**
 * @typedef {Place & { severity: "error" | "warning" | "note", code: string, message: string, help: string[] }} Problem
 */

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
 * @returns {TransactionSpec}
 */
export function showProblems(state, list) {
  return setDiagnostics(
    state,
    list.slice(0, PROBLEMS_MAX_COUNT).map((problem) => ({
      ...rangeOf(state.doc, problem),
      severity: SEVERITIES[problem.severity],
      message: spoken(problem),
      renderMessage: () => rendered(problem),
    })),
  );
}

/**
 * @param {Problem} problem
 * @returns {HTMLElement}
 */
function rendered(problem) {
  const box = document.createElement("div");
  const head = box.appendChild(document.createElement("div"));
  const code = head.appendChild(document.createElement("span"));
  code.className = "cm-problem-code";
  code.textContent = `${problem.severity}[${problem.code}]`;
  head.append(": ", ...prose(problem.message));
  for (const help of problem.help ?? []) {
    const line = box.appendChild(document.createElement("div"));
    line.className = "cm-problem-help";
    line.append("help: ", ...prose(help));
  }
  return box;
}

/** @param {Problem} problem */
function spoken(problem) {
  const help = (problem.help ?? []).map((text) => ` Help: ${text}`).join("");
  return `${problem.severity} ${problem.code}: ${problem.message}${help}`.replaceAll("`", "");
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

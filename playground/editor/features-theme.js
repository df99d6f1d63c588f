// The theme of problems, panels, comparisons and languages.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { color } from "./colors.js";

// The package draws underlines and marks with `data:` images, which `img-src 'self'` blocks. Here
// they are text and text decoration, which also stay visible in forced colours.
const problems = EditorView.theme({
  ".cm-lintRange": {
    backgroundImage: "none",
    textDecoration: "underline wavy 1px",
    textDecorationSkipInk: "none",
    textUnderlineOffset: "3px",
  },
  ".cm-lintRange-error": { textDecorationColor: color.error },
  ".cm-lintRange-warning": { textDecorationColor: color.warning },
  ".cm-lintRange-info": { textDecorationColor: color.muted },
  ".cm-lintRange-active": { backgroundColor: color.place },
  ".cm-lintPoint:after": { borderBottomColor: color.error },
  ".cm-lintPoint-warning:after": { borderBottomColor: color.warning },
  ".cm-lint-marker": {
    content: "normal",
    width: "auto",
    height: "auto",
    textAlign: "center",
    cursor: "default",
  },
  ".cm-lint-marker-error": { color: color.error, "&::before": { content: "'●'" } },
  ".cm-lint-marker-warning": { color: color.warning, "&::before": { content: "'▲'" } },
  ".cm-lint-marker-info": { color: color.muted, "&::before": { content: "'○'" } },
  ".cm-tooltip": {
    backgroundColor: color.panelBackground,
    color: color.panelText,
    border: `1px solid ${color.border}`,
    borderRadius: "6px",
    boxShadow: "0 4px 12px rgb(0 0 0 / 0.15)",
    maxWidth: "min(40rem, 90vw)",
    overflow: "hidden",
  },
  ".cm-diagnostic": { padding: "0.4rem 0.75rem", marginLeft: "0", lineHeight: "1.45", overflowWrap: "anywhere" },
  ".cm-diagnostic-error": { borderLeft: `4px solid ${color.error}` },
  ".cm-diagnostic-warning": { borderLeft: `4px solid ${color.warning}` },
  ".cm-diagnostic-info": { borderLeft: `4px solid ${color.muted}` },
  ".cm-problem-code": { fontWeight: "600" },
  ".cm-diagnostic-error .cm-problem-code": { color: color.error },
  ".cm-diagnostic-warning .cm-problem-code": { color: color.warning },
  ".cm-problem-code:any-link": { color: "inherit" },
  ".cm-problem-help": { marginTop: "0.2rem" },
  ".cm-diagnosticAction": {
    display: "block",
    margin: "0.3rem 0 0",
    padding: "0.15rem 0.5rem",
    fontSize: "0.8125rem",
    textAlign: "left",
    color: color.panelText,
    backgroundColor: color.buttonBackground,
    border: `1px solid ${color.fieldBorder}`,
    borderRadius: "4px",
  },
  ".cm-problem-widening": { borderColor: color.warning, borderLeftWidth: "4px" },
});

const panels = EditorView.theme({
  ".cm-panels": { backgroundColor: color.panelBackground, color: color.panelText },
  ".cm-panels-top": { borderBottom: `1px solid ${color.border}` },
  ".cm-panels-bottom": { borderTop: `1px solid ${color.border}` },
  ".cm-panel.cm-search, .cm-dialog": {
    padding: "0.4rem 2.25rem 0.4rem 0.5rem",
    "& label": {
      display: "inline-flex",
      alignItems: "center",
      gap: "0.3em",
      fontSize: "0.8125rem",
      verticalAlign: "middle",
    },
    "& input, & button, & label": { margin: "0.15rem 0.4rem 0.15rem 0" },
    "& input[type=checkbox]": { margin: "0", accentColor: color.focus },
  },
  ".cm-textfield": {
    fontSize: "0.8125rem",
    padding: "0.25rem 0.5rem",
    border: `1px solid ${color.fieldBorder}`,
    borderRadius: "4px",
    backgroundColor: color.fieldBackground,
    color: color.text,
  },
  ".cm-textfield::placeholder": { color: color.muted, opacity: "1" },
  ".cm-button": {
    fontSize: "0.8125rem",
    padding: "0.25rem 0.6rem",
    border: `1px solid ${color.fieldBorder}`,
    borderRadius: "4px",
    backgroundImage: "none",
    backgroundColor: color.buttonBackground,
    color: color.panelText,
    cursor: "pointer",
    "&:active": { backgroundImage: "none", backgroundColor: color.activeLine },
  },
  ".cm-textfield:focus-visible, .cm-button:focus-visible, .cm-panels input:focus-visible, .cm-panels [name=close]:focus-visible, .cm-dialog-close:focus-visible":
    { outline: `2px solid ${color.focus}`, outlineOffset: "1px" },
  ".cm-panels [name=close], .cm-dialog-close": {
    top: "0.35rem",
    right: "0.5rem",
    width: "1.6rem",
    height: "1.6rem",
    fontSize: "1rem",
    color: "inherit",
    cursor: "pointer",
  },
});

const comparison = EditorView.theme({
  // Room for the signs: colour alone must not distinguish added from removed.
  "&.cm-merge-b .cm-line": { position: "relative", paddingLeft: "1.75rem" },
  ".cm-deletedChunk": { paddingLeft: "0", backgroundColor: color.removedLine },
  ".cm-deletedLine": { position: "relative", padding: "0 0.75rem 0 1.75rem" },
  ".cm-deletedLine::before": { content: "'−'", position: "absolute", left: "0.6rem", color: color.removed },
  "&.cm-merge-b .cm-changedLine": { backgroundColor: color.addedLine },
  "&.cm-merge-b .cm-changedLine::before": {
    content: "'+'",
    position: "absolute",
    left: "0.6rem",
    color: color.added,
  },
  ".cm-deletedLine ::selection, .cm-deletedLine::selection": { backgroundColor: color.selection },
  "&.cm-merge-b .cm-changedText": { background: color.addedPart },
  ".cm-deletedChunk .cm-deletedText": { background: color.removedPart },
});

const syntax = HighlightStyle.define([
  { tag: tags.propertyName, color: color.key },
  { tag: [tags.string, tags.attributeValue], color: color.string },
  { tag: tags.number, color: color.number },
  { tag: [tags.bool, tags.null, tags.keyword], color: color.keyword },
  { tag: tags.comment, color: color.comment, fontStyle: "italic" },
  { tag: [tags.separator, tags.punctuation], color: color.punctuation },
  { tag: [tags.meta, tags.labelName, tags.typeName], color: color.meta },
  { tag: tags.heading, color: color.heading, fontWeight: "600" },
  { tag: tags.invalid, color: color.error },
]);

export const theme = [comparison, panels, problems, syntaxHighlighting(syntax)];

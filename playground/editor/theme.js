// The theme of the editor. Every colour is a custom property of the page (editor.css sets them for
// light and dark), so that another theme needs no script. The fallbacks are the colours for light.

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const color = {
  background: "var(--editor-background, #ffffff)",
  text: "var(--editor-text, #1f2328)",
  muted: "var(--editor-muted, #59636e)",
  border: "var(--editor-border, #d1d9e0)",
  focus: "var(--editor-focus, #0969da)",
  caret: "var(--editor-caret, #1f2328)",
  selection: "var(--editor-selection, #cfe3ff)",
  selectionBlurred: "var(--editor-selection-blurred, #e3e8ed)",
  activeLine: "var(--editor-active-line, #537ea912)",
  gutterBackground: "var(--editor-gutter-background, #ffffff)",
  gutterText: "var(--editor-gutter-text, #6a737d)",
  special: "var(--editor-special, #cf222e)",

  key: "var(--editor-key, #0550ae)",
  string: "var(--editor-string, #0a5c2b)",
  number: "var(--editor-number, #8a3c00)",
  keyword: "var(--editor-keyword, #a3171f)",
  comment: "var(--editor-comment, #4d5761)",
  punctuation: "var(--editor-punctuation, #4a545e)",
  meta: "var(--editor-meta, #6a2fc0)",
  heading: "var(--editor-heading, #0550ae)",

  bracket: "var(--editor-bracket, #c8e6c9)",
  bracketWrong: "var(--editor-bracket-wrong, #ffdad6)",
  place: "var(--editor-place, #8250df26)",
  placeYes: "var(--editor-place-yes, #2da44e33)",
  placeNear: "var(--editor-place-near, #d4a72c59)",
  placeNo: "var(--editor-place-no, #cf222e26)",
  placeChosen: "var(--editor-place-chosen, #1f2328)",
  match: "var(--editor-match, #ffedb3)",
  matchCurrent: "var(--editor-match-current, #ffd9b3)",
  error: "var(--editor-error, #cf222e)",
  warning: "var(--editor-warning, #8a5c00)",

  panelBackground: "var(--editor-panel-background, #f6f8fa)",
  panelText: "var(--editor-panel-text, #1f2328)",
  fieldBackground: "var(--editor-field-background, #ffffff)",
  fieldBorder: "var(--editor-field-border, #818b98)",
  buttonBackground: "var(--editor-button-background, #eaeef2)",

  added: "var(--editor-added, #0a5c2b)",
  addedLine: "var(--editor-added-line, #58c37326)",
  addedPart: "var(--editor-added-part, #2da44e40)",
  removed: "var(--editor-removed, #a3171f)",
  removedLine: "var(--editor-removed-line, #ffedeb)",
  removedPart: "var(--editor-removed-part, #ffd6d2)",
};

const frame = EditorView.theme({
  "&": {
    height: "100%",
    color: color.text,
    backgroundColor: color.background,
    fontSize: "var(--editor-font-size, 0.875rem)",
  },
  // Not an outline, which would be drawn beneath gutters and panels.
  "&.cm-focused": { outline: "none" },
  "&.cm-focused::after": {
    content: "''",
    position: "absolute",
    inset: "0",
    zIndex: "400",
    border: `2px solid ${color.focus}`,
    pointerEvents: "none",
  },
  ".cm-scroller": {
    fontFamily: "var(--editor-font, ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace)",
    lineHeight: "1.5",
    overflow: "auto",
  },
  ".cm-content": { padding: "0.5rem 0", caretColor: color.caret },
  ".cm-line": { padding: "0 0.75rem 0 0.5rem" },
  ".cm-placeholder": { color: color.muted },
  ".cm-specialChar": { color: color.special },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: color.caret, borderLeftWidth: "2px", marginLeft: "-1px" },
  ".cm-selectionBackground": { background: color.selectionBlurred },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { background: color.selection },
  // Only in the editor that has the keyboard. The colours of lines are translucent, because the
  // selection is drawn beneath them.
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: color.activeLine },
  "&.cm-focused .cm-activeLineGutter": { backgroundColor: color.activeLine, color: color.text },
});

const gutters = EditorView.theme({
  ".cm-gutters": {
    backgroundColor: color.gutterBackground,
    color: color.gutterText,
    border: "none",
    "&.cm-gutters-before": { borderRight: `1px solid ${color.border}` },
  },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 0.5rem 0 0.25rem", minWidth: "2rem" },
  ".cm-foldGutter .cm-gutterElement": { width: "1.1rem", textAlign: "center" },
  ".cm-foldPlaceholder": {
    backgroundColor: color.buttonBackground,
    border: `1px solid ${color.border}`,
    color: color.text,
    padding: "0 0.4em",
  },
});

const found = EditorView.theme({
  "&.cm-focused .cm-matchingBracket": { backgroundColor: color.bracket },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: color.bracketWrong },
  ".cm-place": { backgroundColor: color.place },
  ".cm-place-yes": { backgroundColor: color.placeYes },
  ".cm-place-near": { backgroundColor: color.placeNear },
  ".cm-place-no": { backgroundColor: color.placeNo },
  ".cm-place-chosen": { boxShadow: `inset 0 -2px ${color.placeChosen}` },
  ".cm-searchMatch": { backgroundColor: color.match },
  ".cm-searchMatch-selected": { backgroundColor: color.matchCurrent, outline: "1px solid currentColor" },
});

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
  ".cm-gutter-lint": { width: "1.1rem", "& .cm-gutterElement": { padding: "0" } },
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

// Of rules with the same specificity, those of the earlier one win.
export const theme = [comparison, panels, problems, found, gutters, frame, syntaxHighlighting(syntax)];

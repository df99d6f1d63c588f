// The theme of the editor: its frame, gutters and places. features-theme.js has the theme of what is loaded later.

import { EditorView } from "@codemirror/view";
import { color } from "./colors.js";

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
  ".cm-gutter-lint": { width: "1.1rem", "& .cm-gutterElement": { padding: "0" } },
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

// Of rules with the same specificity, those of the earlier one win.
export const theme = [found, gutters, frame];

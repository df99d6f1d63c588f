// The looks of completions and hovers, in the colours of the editor.

import { EditorView } from "@codemirror/view";

export const theme = EditorView.theme({
  ".cm-tooltip.cm-tooltip-autocomplete": {
    // What a completion is for is shown beside the list.
    overflow: "visible",
    "& > ul": {
      fontFamily: "var(--editor-font, ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace)",
      maxHeight: "16em",
    },
    "& > ul > li": { padding: "0.2rem 0.6rem", lineHeight: "1.4" },
    "& > ul > li[aria-selected]": {
      background: "var(--editor-selection, #cfe3ff)",
      color: "var(--editor-text, #1f2328)",
    },
  },
  ".cm-completionDetail": { color: "var(--editor-muted, #59636e)", fontStyle: "normal", marginLeft: "1em" },
  ".cm-tooltip-autocomplete li[aria-selected] .cm-completionDetail": { color: "var(--editor-text, #1f2328)" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "700" },
  ".cm-tooltip.cm-completionInfo": { padding: "0.4rem 0.75rem", lineHeight: "1.45", maxWidth: "24rem", whiteSpace: "normal" },
  ".cm-explanation": { padding: "0.4rem 0.75rem", lineHeight: "1.45", overflowWrap: "anywhere" },
});

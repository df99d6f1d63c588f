// Texts that arrive in an editor and belong elsewhere.

import { EditorView } from "@codemirror/view";

/**
 * @param {(text: string) => boolean} divert takes a text, if it belongs elsewhere
 * @returns {import("@codemirror/state").Extension}
 */
export function arrivals(divert) {
  /** @param {DataTransfer | null} data */
  const isDiverted = (data) => {
    const text = data?.getData("text/plain") ?? "";
    return text !== "" && divert(text);
  };
  return EditorView.domEventHandlers({
    paste: (event) => isDiverted(event.clipboardData),
    drop: (event) => isDiverted(event.dataTransfer),
  });
}

// A character that replaces a selection.

import { EditorView } from "@codemirror/view";

/**
 * Replaces the selection without the browser. Chromium gives a character that replaces a whole highlighted word that word's style,
 * as an attribute, which the policy of the page refuses with an error.
 */
export const replacing = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, view) {
    const { readOnly, selection } = view.state;
    const { ranges, main } = selection;
    if (inputType !== "insertText" || !data || main.empty || ranges.length > 1 || readOnly || view.composing) return false;
    const insert = () =>
      view.state.update(view.state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
    // Others may do it, such as one that surrounds the selection with brackets.
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, main.from, main.to, data, insert))) view.dispatch(insert());
    return true;
  },
});

// Completion, hovers and quick fixes of the editors: `completion.js` of the page, which `assistance.js`
// loads. It shares CodeMirror with editor.js.
//
// The package `codemirror-json-schema` is not used: it reads frontmatter and broken YAML poorly, and
// validates, which is the engine's business.

import { autocompletion, startCompletion } from "@codemirror/autocomplete";
import { completions } from "./completion/completions.js";
import { theme } from "./completion/theme.js";

/** @import { Extension } from "@codemirror/state" */
/** @import { Surroundings } from "./assistance.js" */

export { startCompletion };

/**
 * @param {Surroundings} surroundings
 * @returns {Extension}
 */
export function completion(surroundings) {
  return [
    autocompletion({ override: [completions(surroundings)], icons: false }),
    theme,
  ];
}

// The notation of a text.

/** @import { Text } from "@codemirror/state" */
/** @import { LanguageName } from "./languages.js" */

/**
 * @param {LanguageName} name
 * @param {Text} doc
 * @returns {boolean} whether a text is JSON; the engine distinguishes it from YAML by the same rule
 */
export function isJson(name, doc) {
  return name === "json" || (name === "yaml or json" && /^[[{]/.test(doc.sliceString(0, 1)));
}

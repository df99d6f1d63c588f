// The languages of the texts, and what the editor offers for each.

import { json } from "@codemirror/lang-json";
import { yaml, yamlFrontmatter } from "@codemirror/lang-yaml";
import { StreamLanguage, bracketMatching, foldGutter, foldKeymap, indentOnInput } from "@codemirror/language";
import { keymap } from "@codemirror/view";

import { largeJson } from "./large-json.js";
import { TREE_MAX_UNITS } from "./limits.js";
import { isJson } from "./notation.js";
import { rego } from "./rego.js";

/** @import { Extension, Text } from "@codemirror/state" */

/** @typedef {"agents.md" | "json" | "yaml or json" | "rego"} LanguageName */

/** The text below the frontmatter is for the agent. It has colours for headings only. */
const prose = StreamLanguage.define({
  name: "prose",
  token(stream) {
    const heading = stream.sol() && stream.match(/^#{1,6}\s/);
    stream.skipToEnd();
    return heading ? "heading" : null;
  },
});

/**
 * @param {LanguageName} name
 * @returns {(doc: Text) => Extension} everything that needs the text's structure, the same for texts
 * of the same kind
 */
export function languageSupport(name) {
  const common = [bracketMatching(), indentOnInput()];
  const asJson = [common, json(), foldGutter(), keymap.of(foldKeymap)];
  switch (name) {
    case "agents.md":
      return small([common, yamlFrontmatter({ content: prose })]);
    case "json":
      return small(asJson, largeJson);
    case "yaml or json": {
      const asYaml = small([common, yaml()]);
      return (doc) => (isJson(name, doc) ? small(asJson, largeJson) : asYaml)(doc);
    }
    case "rego":
      return small([common, rego]);
    default:
      return small([]);
  }
}

/** @type {Extension} */
const NOTHING = [];

/**
 * @param {Extension} extension for a text that is small enough for a syntax tree
 * @param {Extension} [large] for others
 * @returns {(doc: Text) => Extension}
 */
function small(extension, large = NOTHING) {
  return (doc) => (doc.length <= TREE_MAX_UNITS ? extension : large);
}

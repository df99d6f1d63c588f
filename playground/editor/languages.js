// The languages of the texts, and what the editor offers for each.

import { json } from "@codemirror/lang-json";
import { yamlFrontmatter } from "@codemirror/lang-yaml";
import { StreamLanguage, bracketMatching, foldGutter, foldKeymap, indentOnInput } from "@codemirror/language";
import { keymap } from "@codemirror/view";

/** @import { Extension } from "@codemirror/state" */

/** @typedef {"agents.md" | "json"} LanguageName */

/** What is below the frontmatter is for the agent. Headings are enough to find one's way. */
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
 * @returns {Extension} everything that needs a syntax tree
 */
export function languageSupport(name) {
  const common = [bracketMatching(), indentOnInput()];
  switch (name) {
    case "agents.md":
      return [common, yamlFrontmatter({ content: prose })];
    case "json":
      return [common, json(), foldGutter(), keymap.of(foldKeymap)];
    default:
      return [];
  }
}

// The values of the pasted documents. They are read when a completion needs them, and kept until
// their texts change.

import { WHOLE_MAX_UNITS, read } from "./document.js";
import { plain } from "./tree.js";

/** @import { Surroundings } from "../assistance.js" */
/** @import { LanguageName } from "../languages.js" */
/** @import { Node, Path } from "./tree.js" */

/** The last values that could be read. @type {Map<string, { text: string, value: unknown }>} */
const known = new Map();

/**
 * What names are looked up in: the documents, and the place of the name.
 * @typedef {object} Lookup
 * @property {Path} path of the value, or of the mapping that has the key
 * @property {(document: string) => any} value of a document; undefined if it can't be read
 */

/**
 * @param {Surroundings} surroundings
 * @param {Node | null} root the document that is edited
 * @param {Path} path
 * @param {boolean} patient whether there is time to read a long text
 * @returns {Lookup}
 */
export function lookup(surroundings, root, path, patient) {
  return {
    path,
    value: (document) => {
      const own = document === surroundings.document;
      const text = own ? surroundings.text() : surroundings.textOf(document);
      // The edited text is read as far as it goes, even if it is broken.
      return own && text.length <= WHOLE_MAX_UNITS ? plain(root) : valueOf(document, text, patient);
    },
  };
}

/**
 * @param {string} document
 * @param {string} text
 * @param {boolean} patient
 * @returns {unknown} its value, or one that it had before, if it takes long
 */
function valueOf(document, text, patient) {
  const before = known.get(document);
  if (before?.text === text || (text.length > WHOLE_MAX_UNITS && !patient)) return before?.value;
  const value = parsed(document, text) ?? before?.value;
  known.set(document, { text, value });
  return value;
}

/**
 * @param {string} document
 * @param {string} text
 * @returns {unknown} undefined if it is too broken
 */
function parsed(document, text) {
  const language = languageOf(document);
  if (language !== "agents.md" && /^\s*[[{]/.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      if (text.length > WHOLE_MAX_UNITS) return undefined;
    }
  }
  return plain(read(text, language).root);
}

/** @param {string} document @returns {LanguageName} */
function languageOf(document) {
  if (document.endsWith(".md")) return "agents.md";
  return document.endsWith(".yaml") ? "yaml or json" : "json";
}

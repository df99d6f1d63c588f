// Writes keys and values as JSON or YAML.

/** @import { Site } from "./tree.js" */

/** Words that YAML readers take for something else than a string. */
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n|~)$/i;

const PLAIN = /^[A-Za-z_/](?:[\w./@+*-]|:(?=[\w./@+*-]))*$/;

/**
 * @param {unknown} value
 * @param {Site["notation"]} notation
 * @returns {string}
 */
export function written(value, notation) {
  const isPlain = typeof value === "string" && notation !== "json" && PLAIN.test(value) && !RESERVED.test(value);
  return isPlain ? /** @type {string} */ (value) : JSON.stringify(value);
}

/**
 * @param {string} key
 * @param {string[]} types of its value
 * @param {Site} site
 * @returns {[string, string]} the text before the cursor and behind it
 */
export function entry(key, types, { notation, indent }) {
  const name = written(key, notation);
  const type = types.length === 1 ? types[0] : "";
  const deeper = `\n${" ".repeat(indent + 2)}`;
  if (notation === "block") {
    if (type === "object") return [`${name}:${deeper}`, ""];
    if (type === "array") return [`${name}:${deeper}- `, ""];
    return [`${name}: `, ""];
  }
  if (type === "object") return [`${name}: {`, "}"];
  if (type === "array") return [`${name}: [`, "]"];
  return type === "string" && notation === "json" ? [`${name}: "`, '"'] : [`${name}: `, ""];
}

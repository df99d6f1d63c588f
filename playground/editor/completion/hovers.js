// What a key or a closed value is for, shown where the pointer rests on it.

import { hoverTooltip } from "@codemirror/view";
import { prose } from "../prose.js";
import { resolve } from "./bundle.js";
import { placeAt } from "./place.js";
import { closedValues, composed, descriptionOf, knownKeys } from "./schema.js";

/** @import { Surroundings } from "../assistance.js" */
/** @import { Schema } from "./schema.js" */
/** @import { Site } from "./tree.js" */

/** @param {Surroundings} surroundings */
export function hovers(surroundings) {
  return hoverTooltip((_, pos, side) => {
    // Within the character that the pointer is on.
    const place = placeAt(surroundings, side > 0 ? pos + 1 : pos, false);
    if (!place || place.site.from === place.site.to) return null;
    const { site, schemas } = place;
    const lines = explanation(site, schemas);
    if (lines.length === 0) return null;
    return { pos: site.from, end: site.to, above: true, create: () => ({ dom: rendered(site.word, lines) }) };
  });
}

/**
 * @param {Site} site
 * @param {Schema[]} schemas of the mapping, or of the value
 * @returns {string[]}
 */
function explanation({ slot, word }, schemas) {
  if (slot === "value") {
    const values = closedValues(schemas);
    const value = [...values.keys()].find((each) => String(each) === word);
    if (value === undefined) return [];
    return [values.get(value) || descriptionOf(schemas), oneOf(values)].filter((line) => line);
  }
  const known = knownKeys(schemas).get(word);
  if (!known) return [];
  const inside = composed(known.schemas, resolve, null);
  const lines = [known.description || descriptionOf(inside), oneOf(closedValues(inside))];
  if (known.required) lines.push("Required");
  return lines.filter((line) => line);
}

/** @param {Map<unknown, string>} values */
function oneOf(values) {
  return values.size > 1 ? `One of ${[...values.keys()].map((value) => `\`${value}\``).join(", ")}` : "";
}

/**
 * @param {string} word
 * @param {string[]} lines
 */
function rendered(word, lines) {
  const box = document.createElement("div");
  box.className = "cm-explanation";
  for (const [at, line] of lines.entries()) {
    const below = box.appendChild(document.createElement("div"));
    below.append(...prose(at === 0 ? `\`${word}\`: ${line}` : line));
  }
  return box;
}

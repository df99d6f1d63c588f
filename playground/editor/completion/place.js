// The place of the cursor: its site, the schemas of what is there, and what names are looked up in.

import { resolve, schemaOf } from "./bundle.js";
import { read } from "./document.js";
import { lookup } from "./documents.js";
import { schemasAt } from "./schema.js";
import { declaredAt } from "./vocabulary.js";

/** @import { Surroundings } from "../assistance.js" */
/** @import { Lookup } from "./documents.js" */
/** @import { Schema } from "./schema.js" */
/** @import { Site } from "./tree.js" */

/** @typedef {{ site: Site, lookup: Lookup, schemas: Schema[] }} Place */

/**
 * @param {Surroundings} surroundings
 * @param {number} at
 * @param {boolean} patient whether there is time to read long texts
 * @returns {Place | null}
 */
export function placeAt(surroundings, at, patient) {
  const { document, language, text } = surroundings;
  const { root, site } = read(text(), language, at);
  if (!site) return null;
  const { path } = site;
  const schema = schemaOf(document);
  const names = lookup(surroundings, root, path, patient);
  const schemas = schema ? schemasAt(schema, resolve, root, path) : [];
  return { site, lookup: names, schemas: [...schemas, ...declaredAt(document, names, root)] };
}

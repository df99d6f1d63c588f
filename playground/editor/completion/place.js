// The place of the cursor: its site, the schemas of what is there, and what names are looked up in.

import { resolve, schemaOf } from "./bundle.js";
import { read } from "./document.js";
import { lookup } from "./documents.js";
import { schemasAt, typesOf } from "./schema.js";
import { declaredAt } from "./vocabulary.js";

/** @import { Surroundings } from "../assistance.js" */
/** @import { Lookup } from "./documents.js" */
/** @import { Schema } from "./schema.js" */
/** @import { Node, Site } from "./tree.js" */

/** @typedef {{ site: Site, lookup: Lookup, schemas: Schema[], item: () => Place | null }} Place */

/**
 * @param {Surroundings} surroundings
 * @param {number} at
 * @param {boolean} patient whether there is time to read long texts
 * @returns {Place | null}
 */
export function placeAt(surroundings, at, patient) {
  const { root, site } = read(surroundings.text(), surroundings.language, at);
  return site && placeOf(surroundings, root, site, patient);
}

/**
 * @param {Surroundings} surroundings
 * @param {Node | null} root
 * @param {Site} site
 * @param {boolean} patient
 * @returns {Place}
 */
function placeOf(surroundings, root, site, patient) {
  const { document } = surroundings;
  const { path } = site;
  const schema = schemaOf(document);
  const names = lookup(surroundings, root, path, patient);
  const declared = schema ? schemasAt(schema, resolve, root, path) : [];
  const schemas = [...declared, ...declaredAt(document, names, root)];
  return {
    site,
    lookup: names,
    schemas,
    // The first item of a sequence that is only to begin here.
    item() {
      if (!site.opensMapping || !typesOf(schemas).includes("array")) return null;
      return placeOf(surroundings, root, { ...site, path: [...path, 0], indent: site.indent + 2 }, patient);
    },
  };
}

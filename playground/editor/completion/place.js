// The place of the cursor: its site, and the schemas and known names there.

import { resolve, schemaOf } from "./bundle.js";
import { read } from "./document.js";
import { schemasAt } from "./schema.js";

/** @import { Surroundings } from "../assistance.js" */
/** @import { Schema } from "./schema.js" */
/** @import { Node, Site } from "./tree.js" */

/** @typedef {{ site: Site, root: Node | null, schemas: Schema[] }} Place */

/**
 * @param {Surroundings} surroundings
 * @param {number} at
 * @returns {Place | null}
 */
export function placeAt({ document, language, text }, at) {
  const { root, site } = read(text(), language, at);
  if (!site) return null;
  const schema = schemaOf(document);
  return { site, root, schemas: schema ? schemasAt(schema, resolve, root, site.path) : [] };
}

// The schemas of the documents. build.mjs replaces the name by them.

import { resolver } from "./schema.js";

/** @import { Bundle } from "./schema.js" */

/** @type {Bundle} */
// @ts-expect-error -- it is defined by the build
const bundle = DOCUMENT_SCHEMAS;

export const resolve = resolver(bundle);

/** @param {string} document its name @returns {{ $ref: string } | undefined} its schema */
export function schemaOf(document) {
  const file = bundle.documents[document];
  return file === undefined ? undefined : { $ref: `${file}#` };
}

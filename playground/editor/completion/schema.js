// What a JSON Schema says of a place in a document: the keys that it may have, its closed values, and
// what each is for.

import { nodeAt, plain } from "./tree.js";

/** @import { Node, Path } from "./tree.js" */

/**
 * A schema with what completion needs of it; references have the form `file#/pointer`.
 * @typedef {object} Schema
 * @property {string} [$ref]
 * @property {string} [description]
 * @property {string | string[]} [type]
 * @property {unknown[]} [enum]
 * @property {unknown} [const]
 * @property {Record<string, Schema>} [properties]
 * @property {Schema} [additionalProperties]
 * @property {Schema} [items]
 * @property {string[]} [required]
 * @property {Schema[]} [anyOf]
 * @property {Schema[]} [oneOf]
 * @property {Schema[]} [allOf]
 * @property {Schema} [if]
 * @property {Schema} [then]
 * @property {Schema} [else]
 * @property {Record<string, Schema>} [$defs]
 */

/**
 * The schemas of the documents, made by build.mjs.
 * @typedef {{ documents: Record<string, string>, files: Record<string, Schema> }} Bundle
 */

/** @typedef {{ description: string, required: boolean, schemas: Schema[] }} KnownKey */

/** @typedef {(reference: string) => Schema | undefined} Resolve */

/**
 * @param {Bundle} bundle
 * @returns {Resolve}
 */
export function resolver(bundle) {
  return (reference) => {
    const [file, pointer] = reference.split("#");
    /** @type {any} */
    let found = bundle.files[file];
    for (const step of pointer?.split("/").slice(1) ?? []) {
      found = found?.[step.replaceAll("~1", "/").replaceAll("~0", "~")];
    }
    return found;
  };
}

/**
 * @param {Schema[]} schemas
 * @param {Resolve} resolve
 * @param {Node | null} node the value that they are for
 * @returns {Schema[]} the same, and those that they are composed of
 */
export function composed(schemas, resolve, node) {
  /** @type {Set<Schema>} */
  const all = new Set();
  const open = [...schemas];
  for (let schema = open.shift(); schema; schema = open.shift()) {
    if (typeof schema !== "object" || all.has(schema)) continue;
    all.add(schema);
    const parts = [schema.$ref ? resolve(schema.$ref) : [], schema.allOf, schema.anyOf, schema.oneOf];
    if (schema.if) parts.push(fulfils(node, schema.if) ? schema.then : schema.else);
    open.unshift(.../** @type {Schema[]} */ (parts.flat().filter((part) => part)));
  }
  return [...all];
}

/**
 * @param {Node | null} node
 * @param {Schema} condition
 * @returns {boolean} whether the constants of a condition are there
 */
function fulfils(node, condition) {
  return Object.entries(condition.properties ?? {}).every(([key, { const: constant }]) => plain(nodeAt(node, [key])) === constant);
}

/**
 * @param {Schema} schema of the document
 * @param {Resolve} resolve
 * @param {Node | null} root the document
 * @param {Path} path
 * @returns {Schema[]} the schemas of the value there
 */
export function schemasAt(schema, resolve, root, path) {
  let schemas = composed([schema], resolve, root);
  path.forEach((step, depth) => {
    /** @type {Schema[]} */
    const inside = [];
    for (const each of schemas) {
      const found = typeof step === "number" ? each.items : (each.properties?.[step] ?? each.additionalProperties);
      if (found) inside.push(found);
    }
    schemas = composed(inside, resolve, nodeAt(root, path.slice(0, depth + 1)));
  });
  return schemas;
}

/**
 * @param {Schema[]} schemas of a mapping
 * @returns {Map<string, KnownKey>} its keys, the required ones first
 */
export function knownKeys(schemas) {
  /** @type {Map<string, KnownKey>} */
  const keys = new Map();
  const required = new Set(schemas.flatMap((schema) => schema.required ?? []));
  for (const { properties } of schemas) {
    for (const [key, schema] of Object.entries(properties ?? {})) {
      const known = keys.get(key);
      known?.schemas.push(schema);
      if (known) known.description ||= schema.description ?? "";
      else keys.set(key, { description: schema.description ?? "", required: required.has(key), schemas: [schema] });
    }
  }
  return new Map([...keys].sort(([, a], [, b]) => Number(b.required) - Number(a.required)));
}

/**
 * @param {Schema[]} schemas of a value
 * @returns {Map<unknown, string>} the values that are named, and what each is for
 */
export function closedValues(schemas) {
  /** @type {Map<unknown, string>} */
  const values = new Map();
  for (const schema of schemas) {
    if (schema.const !== undefined) values.set(schema.const, values.get(schema.const) || (schema.description ?? ""));
    for (const value of Array.isArray(schema.enum) ? schema.enum : []) values.set(value, values.get(value) ?? "");
  }
  const types = typesOf(schemas);
  if (types.includes("boolean") && types.length === 1) for (const value of [true, false]) values.set(value, "");
  return values;
}

/**
 * @param {Schema[]} schemas of a value
 * @param {Resolve} [resolve] where they are not composed yet
 * @returns {string[]} its types
 */
export function typesOf(schemas, resolve) {
  const all = resolve ? composed(schemas, resolve, null) : schemas;
  return [...new Set(all.flatMap((schema) => schema.type ?? []))];
}

/**
 * @param {Schema[]} schemas
 * @param {Resolve} [resolve] where they are not composed yet
 * @returns {string} what the value is for, the outermost words first
 */
export function descriptionOf(schemas, resolve) {
  const all = resolve ? composed(schemas, resolve, null) : schemas;
  return all.find((schema) => schema.description)?.description ?? "";
}

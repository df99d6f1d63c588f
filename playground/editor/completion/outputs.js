// What the steps of a plan give and take: the JSON Schemas of their tools, and pointers into them.

import { currentTools, items } from "./names.js";
import { descriptionOf, composed, schemasAt, typesOf } from "./schema.js";

/** @import { Lookup } from "./documents.js" */
/** @import { Term } from "./names.js" */
/** @import { Resolve, Schema } from "./schema.js" */

/** The largest number of pointers to offer. */
const POINTERS_MAX_COUNT = 300;

/** How many steps are followed that give back what they take. */
const STEPS_MAX = 20;

/** A schema of a document, and how its references are found. @typedef {{ schema: Schema, resolve: Resolve }} Declared */

/**
 * @param {any} schema of a document
 * @returns {Declared | undefined}
 */
function declared(schema) {
  if (typeof schema !== "object" || schema === null) return undefined;
  const resolve = (/** @type {string} */ reference) => {
    if (!reference.startsWith("#")) return undefined;
    return reference.split("/").slice(1).reduce((/** @type {any} */ found, step) => found?.[step], schema);
  };
  return { schema, resolve };
}

/** @param {Lookup} lookup @returns {any[]} */
export function steps(lookup) {
  return items(lookup.value("plan.json")?.plan?.steps);
}

/** @param {Lookup} lookup @returns {any[]} */
export function bindings(lookup) {
  return items(lookup.value("tool-pool.json")?.bindings);
}

/** @param {Lookup} lookup @param {any} step @returns {any} what its tool is bound to */
function bindingOf(lookup, step) {
  return bindings(lookup).find((each) => each.connector_id === step?.connector_id && each.tool_id === step?.tool_id);
}

/**
 * @param {Lookup} lookup
 * @param {any} binding
 * @param {"input" | "output"} side
 * @returns {Declared | undefined} the schema that the binding itself has
 */
function ofBinding(lookup, binding, side) {
  const own = binding?.[`${side}_schema`];
  if (own) return declared(own);
  const name = binding?.[`${side}_schema_ref`];
  return name && declared(items(lookup.value("tool-pool.json")?.schemas).find((schema) => schema.$id === name));
}

/**
 * @param {Lookup} lookup
 * @param {any} binding
 * @param {"inputSchema" | "outputSchema"} side
 * @returns {Declared | undefined} the schema that the server's tool has
 */
function ofTool(lookup, { server, tool }, side) {
  const found = currentTools(lookup, server).find(([name]) => name === tool);
  return declared(found?.[1][side]);
}

/**
 * @param {Lookup} lookup
 * @param {any} step
 * @returns {Declared | undefined} the schema of its input
 */
export function inputOf(lookup, step) {
  const binding = bindingOf(lookup, step);
  return ofBinding(lookup, binding, "input") ?? (binding && ofTool(lookup, binding, "inputSchema"));
}

/**
 * @param {Lookup} lookup
 * @param {any} call a plan of one call
 * @returns {Declared | undefined} the schema of its arguments
 */
export function argumentsOf(lookup, call) {
  return ofTool(lookup, call, "inputSchema");
}

/**
 * @param {Lookup} lookup
 * @param {number} at the number of a step
 * @param {number} [depth]
 * @returns {Declared | undefined} the schema of its output
 */
export function outputOf(lookup, at, depth = 0) {
  const step = steps(lookup)[at];
  const binding = bindingOf(lookup, step);
  const own = ofBinding(lookup, binding, "output");
  if (own || !binding) return own;
  switch (binding.driver_kind) {
    case "mcp_proxy":
      return ofTool(lookup, binding, "outputSchema");
    case "http":
      return declared({ type: "object", properties: { status: { type: "integer" }, body: {} } });
    case "restricted_shell":
      return declared({ type: "object", properties: { exit_code: { type: "integer" }, stdout: { type: "string" } } });
    case "noop":
      return depth > STEPS_MAX ? undefined : passedOn(lookup, step, at, depth);
    default:
      return undefined;
  }
}

/**
 * @param {Lookup} lookup
 * @param {any} step
 * @param {number} at its number
 * @param {number} depth
 * @returns {Declared | undefined} the schema of its input, which it gives back
 */
function passedOn(lookup, step, at, depth) {
  if (step.input !== undefined) return declared(shapeOf(step.input));
  const { step: name, pointer } = step.input_from ?? {};
  const earlier = steps(lookup).findIndex((each) => each.step_id === name);
  if (earlier < 0 || earlier >= at || typeof pointer !== "string") return undefined;
  const from = outputOf(lookup, earlier, depth + 1);
  const path = pointer.split("/").slice(1).map((part) => (/^\d+$/.test(part) ? Number(part) : unescaped(part)));
  return from && { schema: { allOf: schemasAt(from.schema, from.resolve, null, path) }, resolve: from.resolve };
}

/**
 * @param {any} value
 * @returns {Schema} a schema of values like it
 */
function shapeOf(value) {
  if (Array.isArray(value)) return { type: "array", items: value.length > 0 ? shapeOf(value[0]) : undefined };
  if (typeof value !== "object" || value === null) return { type: typeof value };
  const properties = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shapeOf(each)]));
  return { type: "object", properties };
}

/**
 * @param {Declared} output
 * @returns {Term[]} the pointers into it, the short ones first
 */
export function pointersInto({ schema, resolve }) {
  /** @type {Term[]} */
  const terms = [];
  /** @type {{ pointer: string, schemas: Schema[] }[]} */
  const open = [{ pointer: "", schemas: [schema] }];
  for (let next = open.shift(); next && terms.length < POINTERS_MAX_COUNT; next = open.shift()) {
    const { pointer } = next;
    const schemas = composed(next.schemas, resolve, null);
    terms.push({ label: pointer, detail: typesOf(schemas).join(" or "), info: descriptionOf(schemas) });
    /** @type {Map<string, Schema[]>} */
    const inside = new Map();
    for (const { properties, items: each } of schemas) {
      for (const [key, one] of Object.entries(properties ?? {})) inside.set(escaped(key), [...(inside.get(escaped(key)) ?? []), one]);
      if (each) inside.set("0", [...(inside.get("0") ?? []), each]);
    }
    for (const [part, those] of inside) open.push({ pointer: `${pointer}/${part}`, schemas: those });
  }
  return terms;
}

/** @param {string} key */
function escaped(key) {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** @param {string} part */
function unescaped(part) {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

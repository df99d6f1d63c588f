// The schemas of the documents, with what completion needs of them: keys, closed values, types and
// descriptions. Bundled by build.mjs, so that they are always those of the repository.

import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** @import { Bundle, Schema } from "./completion/schema.js" */

const FOLDER = fileURLToPath(new URL("../../schemas/", import.meta.url));

/** The documents that have a schema. */
const DOCUMENTS = {
  "agents.md": "agents.md",
  "mcp.index.json": "mcp.index",
  "agents.lock": "agents.lock",
  "task.yaml": "task",
  "tenant.yaml": "tenant",
  "health.yaml": "health",
  "plan.json": "env.mova_agent_plan_v1",
  "request.json": "env.mova_agent_request_v1",
  "tool-pool.json": "ds.mova_agent_tool_pool_v1",
  "profile.json": "mova/ds.instruction_profile_core_v1",
};

/** The keywords that hold a schema, several, or several by their names. */
const ONE = ["additionalProperties", "items", "if", "then", "else"];
const SEVERAL = ["anyOf", "oneOf", "allOf"];
const NAMED = ["properties", "$defs"];
const AS_THEY_ARE = ["description", "type", "enum", "const", "required"];

/** @returns {Promise<Bundle>} */
export async function schemas() {
  /** @type {Bundle} */
  const bundle = { documents: {}, files: {} };
  for (const [document, name] of Object.entries(DOCUMENTS)) {
    const file = `${name}.schema.json`;
    bundle.documents[document] = path.basename(file);
    await add(bundle, file);
  }
  return bundle;
}

/**
 * Adds a file and those that it refers to.
 * @param {Bundle} bundle
 * @param {string} file
 */
async function add(bundle, file) {
  const name = path.basename(file);
  if (bundle.files[name]) return;
  /** @type {Set<string>} */
  const others = new Set();
  const schema = JSON.parse(await readFile(path.join(FOLDER, file), "utf8"));
  bundle.files[name] = slim(schema, name, others);
  for (const other of others) await add(bundle, other);
}

/**
 * @param {any} schema
 * @param {string} file that it is in
 * @param {Set<string>} others gets the files that it refers to
 * @returns {Schema}
 */
function slim(schema, file, others) {
  if (typeof schema !== "object") return {};
  /** @type {any} */
  const small = {};
  const inside = (/** @type {any} */ each) => slim(each, file, others);
  for (const key of AS_THEY_ARE) if (key in schema) small[key] = schema[key];
  for (const key of ONE) if (typeof schema[key] === "object") small[key] = inside(schema[key]);
  for (const key of SEVERAL) if (key in schema) small[key] = schema[key].map(inside);
  for (const key of NAMED) {
    if (!(key in schema)) continue;
    small[key] = Object.fromEntries(Object.entries(schema[key]).map(([name, each]) => [name, inside(each)]));
  }
  if (schema.$ref) {
    const [address, pointer = ""] = schema.$ref.split("#");
    const other = address && path.posix.basename(address);
    if (other) others.add(address.startsWith("https://mova.dev/") ? `mova/${other}` : other);
    small.$ref = `${other || file}#${pointer}`;
  }
  return small;
}

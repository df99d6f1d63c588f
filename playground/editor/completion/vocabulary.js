// Which names of the documents belong where.

import { currentTools, items, members, servers, strings, tallied, toolsOf, unique } from "./names.js";
import { argumentsOf, bindings, inputOf, outputOf, pointersInto, steps } from "./outputs.js";
import { schemasAt } from "./schema.js";
import { nodeAt } from "./tree.js";

/** @import { Lookup } from "./documents.js" */
/** @import { Term } from "./names.js" */
/** @import { Schema } from "./schema.js" */
/** @import { Node, Path, Site } from "./tree.js" */

/** @typedef {(lookup: Lookup) => Term[]} Source */

/** @type {Source} */
const categories = (lookup) => tallied(servers(lookup), (server) => strings(server.categories));

/** The scopes, those of servers of the category first. @type {Source} */
const scopes = (lookup) => {
  const scopesOf = (/** @type {any} */ server) => strings(server.scopes);
  const all = servers(lookup);
  const { category } = requirement(lookup) ?? {};
  const of = all.filter((server) => strings(server.categories).includes(category));
  return unique([...tallied(of, scopesOf), ...tallied(all, scopesOf)]);
};

/** @param {Lookup} lookup @returns {any} the requirement around a scope */
function requirement(lookup) {
  return lookup.value("agents.md")?.requires?.mcp?.[lookup.path[2]];
}

/** @param {any} server @returns {any[]} the capabilities of its tools */
const capabilitiesOf = (server) => toolsOf(server).flatMap(([, tool]) => items(tool["x-summit-capabilities"]));

/** @type {Source} */
const resources = (lookup) => tallied(servers(lookup), (server) => strings(capabilitiesOf(server).map(({ resource }) => resource)));

/** @type {Source} */
const actions = (lookup) => {
  const all = servers(lookup);
  return unique([
    ...tallied(all, (server) => strings(server.scopes)),
    ...tallied(all, (server) => capabilitiesOf(server).map(({ verb, resource }) => `${verb}:${resource}`)),
    ...tallied(all, (server) => toolsOf(server).map(([name]) => name)),
  ]);
};

/** @type {Source} */
const serverIds = (lookup) => unique(servers(lookup).map(({ id, version }) => ({ label: String(id), detail: String(version ?? "") })));

/** @type {Source} */
const classes = (lookup) => tallied(servers(lookup), (server) => strings(server.class));

/** @type {(document: string, ...path: string[]) => Source} the one name that another document has there */
const named = (document, ...path) => (lookup) =>
  strings(path.reduce((value, key) => value?.[key], lookup.value(document))).map((label) => ({ label, detail: document }));

/** @param {Lookup} lookup @returns {any} the step around a value */
const step = (lookup) => steps(lookup)[Number(lookup.path[2])];

/** @param {any} binding @returns {Term} */
const tool = ({ tool_id, connector_id, description }) => ({ label: String(tool_id), detail: connector_id, info: description });

/** @type {Source} */
const connectors = (lookup) => {
  const contracts = items(lookup.value("tool-pool.json")?.connectors);
  const declared = contracts.map(({ connector_id, provider }) => ({ label: String(connector_id), detail: provider }));
  return unique([...declared, ...bindings(lookup).map(({ connector_id }) => ({ label: String(connector_id) }))]);
};

/** @type {Source} */
const schemaNames = (lookup) => items(lookup.value("tool-pool.json")?.schemas).map(({ $id, title }) => ({ label: String($id), detail: title }));

/** @type {Source} the steps before this one, the nearest first */
const earlierSteps = (lookup) => {
  const earlier = steps(lookup).slice(0, Number(lookup.path[2])).reverse();
  return unique(earlier.map(({ step_id, title, tool_id }) => ({ label: String(step_id), detail: tool_id, info: title })));
};

/** @type {Source} */
const pointers = (lookup) => {
  const name = step(lookup)?.input_from?.step;
  const earlier = steps(lookup).findIndex((each) => each.step_id === name);
  const output = earlier < 0 ? undefined : outputOf(lookup, earlier);
  return output ? pointersInto(output) : [];
};

/** @param {Lookup} lookup @returns {any} the binding around a value */
const binding = (lookup) => bindings(lookup)[Number(lookup.path[1])];

/** @param {Lookup} lookup @param {unknown} id @returns {Term[]} */
const toolNames = (lookup, id) => currentTools(lookup, id).map(([label, { description }]) => ({ label, info: description }));

/**
 * The names of values: by the document, and the path of the value. `*` is any step.
 * @type {Record<string, Record<string, Source>>}
 */
const VALUES = {
  "agents.md": {
    "requires/mcp/*/category": categories,
    "requires/mcp/*/permissions/*": scopes,
    "requires/capabilities/*/resource": resources,
    "constraints/actions/forbid/*": actions,
  },
  "task.yaml": { "required_capabilities/*/resource": resources },
  "mcp.index.json": {
    "servers/*/categories/*": categories,
    "servers/*/scopes/*": scopes,
    "servers/*/class": classes,
  },
  "plan.json": {
    "plan/request_id": named("request.json", "request", "request_id"),
    "plan/tool_pool_ref/pool_id": named("tool-pool.json", "pool_id"),
    "plan/tool_pool_ref/pool_version": named("tool-pool.json", "pool_version"),
    "plan/instruction_profile_ref/profile_id": named("profile.json", "profile_id"),
    "plan/instruction_profile_ref/profile_version": named("profile.json", "profile_version"),
    "plan/steps/*/connector_id": connectors,
    "plan/steps/*/tool_id": (lookup) => {
      const connector = step(lookup)?.connector_id;
      return bindings(lookup).filter(({ connector_id }) => connector === undefined || connector_id === connector).map(tool);
    },
    "plan/steps/*/input_from/step": earlierSteps,
    "plan/steps/*/input_from/pointer": pointers,
    "plan/steps/*/input_schema_ref": schemaNames,
    "plan/steps/*/output_schema_ref": schemaNames,
  },
  "request.json": {
    "request/tool_pool_ref/pool_id": named("tool-pool.json", "pool_id"),
    "request/tool_pool_ref/pool_version": named("tool-pool.json", "pool_version"),
    "request/instruction_profile_ref/profile_id": named("profile.json", "profile_id"),
    "request/instruction_profile_ref/profile_version": named("profile.json", "profile_version"),
  },
  "tool-pool.json": {
    "bindings/*/connector_id": connectors,
    "bindings/*/input_schema_ref": schemaNames,
    "bindings/*/output_schema_ref": schemaNames,
    "bindings/*/server": serverIds,
    "bindings/*/server_version": (lookup) => {
      const id = binding(lookup)?.server;
      return servers(lookup).filter((server) => server.id === id).map(({ version }) => ({ label: String(version) }));
    },
    "bindings/*/tool": (lookup) => toolNames(lookup, binding(lookup)?.server),
  },
  "profile.json": {
    "rules/*/target/selector": (lookup) => [
      ...bindings(lookup).map(({ connector_id, tool_id, description }) => ({ label: `${connector_id}/${tool_id}`, info: description })),
      { label: "*", info: "Every tool" },
    ],
  },
  "call.json": {
    type: () => [{ label: "call_tool" }],
    server: serverIds,
    tool: (lookup) => toolNames(lookup, lookup.value("call.json")?.server),
  },
};

/**
 * The names of keys, by the document and the path of the mapping.
 * @type {Record<string, Record<string, Source>>}
 */
const KEYS = {
  "health.yaml": { "": serverIds },
  "tenant.yaml": {
    "tenants/*/priorities/servers": serverIds,
    "tenants/*/priorities/classes": classes,
  },
  "catalogue.json": { "": serverIds },
};

/**
 * @param {string} document
 * @param {Site["slot"]} slot
 * @param {Lookup} lookup
 * @returns {Term[]} the names that belong there
 */
export function namesAt(document, slot, lookup) {
  const sources = (slot === "key" ? KEYS : VALUES)[document] ?? {};
  const pattern = Object.keys(sources).find((each) => fits(lookup.path, each));
  return pattern === undefined ? [] : sources[pattern](lookup);
}

/** @param {Path} path @param {string} pattern */
function fits(path, pattern) {
  const parts = pattern === "" ? [] : pattern.split("/");
  return parts.length === path.length && parts.every((part, at) => part === "*" || part === path[at]);
}

/**
 * The schemas that the documents themselves have for a place: of a tool's input.
 * @param {string} document
 * @param {Lookup} lookup
 * @param {Node | null} root
 * @returns {Schema[]}
 */
export function declaredAt(document, lookup, root) {
  const { path } = lookup;
  const within = (/** @type {string} */ pattern) => fits(path.slice(0, pattern.split("/").length), pattern);
  /** @type {[string, () => ReturnType<typeof inputOf>][]} */
  const places = [];
  if (document === "plan.json") places.push(["plan/steps/*/input", () => inputOf(lookup, step(lookup))]);
  if (document === "call.json") places.push(["args", () => argumentsOf(lookup, lookup.value("call.json") ?? {})]);
  for (const [pattern, find] of places) {
    const declared = within(pattern) ? find() : undefined;
    if (!declared) continue;
    const { length } = pattern.split("/");
    return schemasAt(declared.schema, declared.resolve, nodeAt(root, path.slice(0, length)), path.slice(length));
  }
  return [];
}

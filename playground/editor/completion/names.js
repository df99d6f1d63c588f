// The names that documents have: of servers and their tools, categories, scopes, steps. A document may be any
// pasted text.

/** @import { Lookup } from "./documents.js" */

/**
 * A name to offer.
 * @typedef {object} Term
 * @property {string} label
 * @property {string} [detail] in a few words
 * @property {string} [info] in a sentence
 */

/** @param {any} value @returns {any[]} its items; none if it is no list */
export function items(value) {
  return Array.isArray(value) ? value.filter((item) => typeof item === "object" && item !== null) : [];
}

/** @param {any} value @returns {[string, any][]} its members; none if it is no object */
export function members(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}

/** @param {any} value @returns {string[]} a list of strings, or one */
export function strings(value) {
  return (Array.isArray(value) ? value : [value]).filter((item) => typeof item === "string");
}

/** @param {Lookup} lookup @returns {any[]} the servers of the index */
export function servers(lookup) {
  const index = lookup.value("mcp.index.json");
  return items(Array.isArray(index) ? index : index?.servers);
}

/** @param {any} server @returns {[string, any][]} its tools with their names */
export function toolsOf(server) {
  return members(server.capabilities?.tools).filter(([, tool]) => typeof tool === "object");
}

/**
 * The current tools of a server: those of the catalogue, else those of the index.
 * @param {Lookup} lookup
 * @param {unknown} id
 * @returns {[string, any][]}
 */
export function currentTools(lookup, id) {
  const result = typeof id === "string" ? lookup.value("catalogue.json")?.[id] : undefined;
  if (result) return items(result.tools).map((tool) => [String(tool.name), tool]);
  return servers(lookup).filter((server) => server.id === id).flatMap(toolsOf);
}

/**
 * @param {any[]} from servers
 * @param {(server: any) => Iterable<string>} namesOf
 * @returns {Term[]} each name once, with the servers that have it
 */
export function tallied(from, namesOf) {
  /** @type {Map<string, string[]>} */
  const ids = new Map();
  for (const server of from) {
    for (const name of new Set(namesOf(server))) {
      const there = ids.get(name);
      if (there) there.push(server.id);
      else ids.set(name, [server.id]);
    }
  }
  return [...ids].map(([label, of]) => ({ label, detail: of.length === 1 ? of[0] : `${of.length} servers` }));
}

/**
 * @param {Iterable<Term>} terms
 * @returns {Term[]} without those that have the name of an earlier one
 */
export function unique(terms) {
  /** @type {Map<string, Term>} */
  const first = new Map();
  for (const term of terms) if (!first.has(term.label)) first.set(term.label, term);
  return [...first.values()];
}

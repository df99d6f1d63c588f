// The example of most visits, which the command line has too.

import { readFileSync } from "node:fs";

/** @param {string} file relative to the repository */
const read = (file) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

export const MANIFEST = read("examples/hello-agent/agents.md");
export const INDEX = read("examples/hello-agent/mcp.index.json");

/** What `agent resolve` writes for it. */
export const LOCK = read("tests/corpus/views/hello-agent/agents.lock");
export const RESOLUTION = read("tests/corpus/views/hello-agent/agents.resolution.json");

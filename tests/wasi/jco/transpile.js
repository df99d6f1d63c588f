// Translates a component to JavaScript: `node transpile.js COMPONENT FOLDER`.

import { transpile } from "@bytecodealliance/jco-transpile";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const [component, outDir] = process.argv.slice(2);
const { files } = await transpile(component, { name: "agent", outDir });
for (const [path, bytes] of Object.entries(files)) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}

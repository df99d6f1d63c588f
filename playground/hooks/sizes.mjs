// Prints, as JSON, the size of each file in a folder, as it is and compressed by `gzip -9`:
// `node hooks/sizes.mjs FOLDER`.

import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";

const folder = process.argv[2];
const sizes = {};
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (entry.isDirectory()) continue;
  const file = path.join(entry.parentPath ?? entry.path, entry.name);
  const bytes = readFileSync(file);
  const name = path.relative(folder, file).split(path.sep).join("/");
  sizes[name] = { raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length };
}
console.log(JSON.stringify(sizes));

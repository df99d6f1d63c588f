// Makes the scripts and the style sheets of a folder smaller, in place: `node hooks/minify.mjs FOLDER`.

import { transform } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";

const LOADERS = { ".css": "css", ".js": "js" };

const folder = process.argv[2];
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  const loader = LOADERS[path.extname(entry.name)];
  if (entry.isDirectory() || !loader) continue;
  const file = path.join(entry.parentPath ?? entry.path, entry.name);
  const { code } = await transform(readFileSync(file, "utf8"), { loader, format: "esm", minify: true, legalComments: "none" });
  writeFileSync(file, code);
}

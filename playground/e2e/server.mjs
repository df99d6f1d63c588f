// A plain static server: a folder under a path, with the right types, compressed.

import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { gzipSync } from "node:zlib";

/** The usual place: the playground must work in any folder of a server. */
const ANYWHERE = { folder: "/some/where/", port: 0 };

const TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
};

/** The compressed files by their times and paths; all servers of a run answer with the same. */
const compressed = /** @type {Map<string, Promise<Buffer | undefined>>} */ (new Map());

/** @param {string} file */
async function compress(file) {
  const found = await stat(file).catch(() => undefined);
  const version = `${found?.mtimeMs} ${file}`;
  const content = compressed.get(version) ?? readFile(file).then((bytes) => gzipSync(bytes), () => undefined);
  compressed.set(version, content);
  return content;
}

/**
 * @param {string} dist
 * @param {{ folder: string, port: number }} place the path of the page, and the port or 0
 * @returns the address of the page, and how to stop answering
 */
export async function serve(dist, { folder, port } = ANYWHERE) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const name = pathname === folder ? "index.html" : pathname.slice(folder.length);
    const file = path.join(dist, decodeURIComponent(name));
    const inside = pathname.startsWith(folder) && file.startsWith(dist + path.sep);
    const content = inside && (await compress(file));
    if (!content) return response.writeHead(404).end();
    response.writeHead(200, {
      "content-type": TYPES[path.extname(file)] ?? "application/octet-stream",
      "content-encoding": "gzip",
      "content-length": content.length,
    });
    response.end(content);
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(undefined));
  });
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    address: `http://127.0.0.1:${address.port}${folder}`,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

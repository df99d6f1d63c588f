// A plain static server: a folder under a path, with the right types, compressed.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { gzipSync } from "node:zlib";

/** The playground must work in any folder of a server. */
const FOLDER = "/some/where/";

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

/** The compressed files by their paths; all servers of a run answer with the same. */
const compressed = /** @type {Map<string, Promise<Buffer | undefined>>} */ (new Map());

/** @param {string} file */
function compress(file) {
  const content = compressed.get(file) ?? readFile(file).then((bytes) => gzipSync(bytes), () => undefined);
  compressed.set(file, content);
  return content;
}

/**
 * @param {string} dist
 * @returns the address of the page, and how to stop answering
 */
export async function serve(dist) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const name = pathname === FOLDER ? "index.html" : pathname.slice(FOLDER.length);
    const file = path.join(dist, decodeURIComponent(name));
    const inside = pathname.startsWith(FOLDER) && file.startsWith(dist + path.sep);
    const content = inside && (await compress(file));
    if (!content) return response.writeHead(404).end();
    response.writeHead(200, {
      "content-type": TYPES[path.extname(file)] ?? "application/octet-stream",
      "content-encoding": "gzip",
      "content-length": content.length,
    });
    response.end(content);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    address: `http://127.0.0.1:${port}${FOLDER}`,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

// A plain static server: a folder under a path, with the right types.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";

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
    const found = inside && (await stat(file).catch(() => undefined));
    if (!found || !found.isFile()) return response.writeHead(404).end();
    response.writeHead(200, {
      "content-type": TYPES[path.extname(file)] ?? "application/octet-stream",
      "content-length": found.size,
    });
    createReadStream(file).pipe(response);
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

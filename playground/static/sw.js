// Keeps the playground working without a network.
//
// All files of one version are stored together, when the browser installs this worker, and answered
// from there. Another version, which has another list and so is another worker, is installed beside
// it and takes over at the next load, once no other tab shows the old one: a page never gets files
// of two versions.
//
// The engine that evaluates policies is several times as large as all else, and most visitors have
// no policy: it is stored when it is first asked for. So is what only imports, plans, sessions,
// reviews and embedded parts need, and the pages about codes.

// Filled in by `cargo xtask playground --dist`: the version, and the path and SHA-256 of each file.
const VERSION = "";
const FILES = [];

// The caches of a whole server are in one place, and the playground is only a folder of it.
const CACHES = `agent-playground ${self.registration.scope} `;
const CACHE = CACHES + VERSION;

/** Prefixes of the paths of files that are stored on request. */
const LATER = [
  "agent-plans-page", "agent-review-page", "agent-session-page", "archive.js", "codes.json", "embed.",
  "engine/import/", "engine/plans/", "engine/policy/", "engine/run/", "engine/session/", "exports.js", "importer.js",
  "local.js", "plans.css", "review.css", "session.css",
];

/** Asks a worker that waits to take over. It answers with its cache. */
const TAKE_OVER = "take over";

/** Where the answers come from. */
let current = CACHE;

self.addEventListener("install", (event) => event.waitUntil(store()));
self.addEventListener("activate", (event) => event.waitUntil(start()));
self.addEventListener("message", (event) => {
  if (event.data === TAKE_OVER) {
    event.ports[0].postMessage(CACHE);
    event.waitUntil(self.skipWaiting());
  }
});
self.addEventListener("fetch", (event) => {
  const path = pathOf(event.request);
  if (path !== undefined) event.respondWith(answer(event.request, path));
});

async function store() {
  const cache = await caches.open(CACHE);
  // Who had them in the version before is to have them without a network, too.
  const had = new Set();
  for (const name of await caches.keys()) {
    if (!name.startsWith(CACHES) || name === CACHE) continue;
    const before = await caches.open(name);
    for (const [path] of FILES) if (isLater(path) && (await before.match(path))) had.add(path);
  }
  const now = FILES.filter(([path]) => !isLater(path) || had.has(path));
  await Promise.all(now.map(async ([path, digest]) => cache.put(path, await load(path, digest))));
}

/** @param {string} path */
function isLater(path) {
  return LATER.some((beginning) => path.startsWith(beginning));
}

/** Loads a file of the version of a cache, and stores it there. */
async function storeLater(cache, path) {
  const [, digest] = FILES.find(([name]) => name === path);
  const response = await load(path, digest);
  await cache.put(path, response.clone());
  return response;
}

/** Loads a file of this version: while a new version is being uploaded, the server has files of both. */
async function load(path, digest) {
  // The browser has most of them from loading the page, which may be too old.
  for (const cache of ["default", "reload"]) {
    const response = await fetch(path, { cache });
    const body = await response.arrayBuffer();
    if (response.ok && (await sha256(body)) === digest) {
      // A new response: a server may have redirected from index.html to its folder, and a redirected
      // response is refused as an answer for a page.
      return new Response(body, { headers: response.headers });
    }
  }
  throw new Error(`${path} is not of version ${VERSION}`);
}

async function sha256(body) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function start() {
  for (const name of await caches.keys()) {
    if (name.startsWith(CACHES) && name !== CACHE) await caches.delete(name);
  }
  await self.clients.claim();
}

/** The path of a file of ours, or undefined for all else that is under the same address. */
function pathOf(request) {
  const { origin, pathname } = new URL(request.url);
  const address = origin + pathname;
  const { scope } = self.registration;
  if (request.method !== "GET" || !address.startsWith(scope)) return undefined;
  const path = address.slice(scope.length) || "index.html";
  return FILES.some(([name]) => name === path) ? path : undefined;
}

/** Whether no other tab shows the playground than the one that asks. */
async function isOnlyPage(request) {
  // A page that is loaded again is still there while it asks.
  const own = request.isReloadNavigation ? 1 : 0;
  return (await self.clients.matchAll()).length <= own;
}

async function answer(request, path) {
  const { waiting } = self.registration;
  if (request.mode === "navigate" && waiting && (await isOnlyPage(request))) {
    // From here on all answers are of the new version. This worker gives some more of them, until it
    // has nothing to do.
    current = await handOver(waiting);
  }
  const cache = await caches.open(current);
  const stored = await cache.match(path);
  if (stored) return stored;
  // This page can't use files of another version.
  return isLater(path) && current === CACHE ? storeLater(cache, path) : fetch(request);
}

/** Has another worker take over, and returns its cache. */
function handOver(worker) {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = (event) => resolve(event.data);
    worker.postMessage(TAKE_OVER, [port2]);
  });
}

// The browser of the tests: a headless Chromium, which asks nothing of the network or the system.

import { access } from "node:fs/promises";
import { chromium } from "playwright-core";

const ARGS = [
  // Neither root nor a container gets it; only our own pages are opened.
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** @returns {Promise<string>} the path of the browser */
async function chromiumPath() {
  const candidates = process.env.CHROMIUM ? [process.env.CHROMIUM] : ["/usr/bin/chromium", "/usr/bin/google-chrome"];
  for (const candidate of candidates) {
    if (await access(candidate).then(() => true, () => false)) return candidate;
  }
  throw new Error(`There is no browser at ${candidates.join(" or ")}: install Chromium, or set CHROMIUM to the path of one.`);
}

/** Starts it, or fails with the sentence that says what is missing. */
export async function launch() {
  return chromium.launch({ executablePath: await chromiumPath(), args: ARGS });
}

// Waits for a condition instead of a time.

import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 10_000;
const PAUSE_MS = 20;

/**
 * @template T
 * @param {() => Promise<T> | T} body is tried again until it throws nothing
 * @param {number} [patience] in milliseconds
 * @returns {Promise<T>}
 */
export async function eventually(body, patience = PATIENCE_MS) {
  const end = performance.now() + patience;
  for (;;) {
    try {
      return await body();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await sleep(PAUSE_MS);
  }
}

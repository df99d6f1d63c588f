// The figures of the page, for the bench and for the test.

import { INDEX, MANIFEST } from "./large.mjs";
import { holdUps, percentile, strokes, takeTimes } from "./measure.mjs";

/** @import { Visit } from "./browser.mjs" */

/** The required figures, in milliseconds and frames. */
export const TARGETS = {
  "first paint, 1.6 Mbit/s": 1_000,
  "first verdict, cold": 700,
  "agents.md, key to verdict, p99": 34,
  "agents.md, engine, p99": 5,
  "agents.md, longest task": 50,
  "index, key to verdict, p99": 300,
  "index, longest task": 50,
  "index, longest task while pasting": 50,
  "matrix, longest task while scrolling": 50,
  "hello-agent, key to verdict, frames, p99": 2,
};

/**
 * @param {Visit} visit
 * @returns {Promise<number>} the time until a newcomer with a slow network sees more than white
 */
export async function firstPaint({ another }) {
  const { page } = await another({ slow: true, wait: false });
  return page.evaluate(
    () =>
      new Promise((resolve) => {
        new PerformanceObserver((list) => {
          const [paint] = list.getEntriesByName("first-contentful-paint");
          if (paint) resolve(paint.startTime);
        }).observe({ type: "paint", buffered: true });
      }),
  );
}

/**
 * @param {Visit} visit
 * @returns {Promise<number>} the time until a newcomer has the first verdict
 */
async function firstVerdict({ another }) {
  const newcomer = await another({
    script: () => {
      new MutationObserver((_, observer) => {
        if (document.querySelector("#answer-panel[aria-busy=false] .headline") === null) return;
        window.firstVerdict = performance.now();
        observer.disconnect();
      }).observe(document, { subtree: true, childList: true, attributes: true });
    },
  });
  return newcomer.page.evaluate(() => window.firstVerdict);
}

/**
 * @param {Visit} visit that was not waited for
 * @param {number} rounds of four keys in agents.md; half as many in the others
 * @returns {Promise<Record<string, number>>}
 */
export async function measure(visit, rounds) {
  const { playground, page } = visit;
  const first = { paint: await firstPaint(visit), verdict: await firstVerdict(visit) };
  await takeTimes(page);
  await page.reload();
  await playground.verdict();

  const version = { at: "version: 1.0.0", keys: ["1", "Backspace"] };
  await strokes(playground, "agents.md", [version], 2);
  const hello = await strokes(playground, "agents.md", [version], rounds);

  await playground.paste("agents.md", MANIFEST);
  const pasting = await holdUps(page, async () => {
    await playground.paste("mcp.index.json", INDEX);
    await page.locator(".facts", { hasText: "10,000 servers" }).waitFor();
    await playground.says("Every requirement has a server");
  });

  const scope = { at: "write:1", keys: ["x", "Backspace"] };
  await strokes(playground, "agents.md", [version, scope], 1);
  /** @type {Awaited<ReturnType<typeof strokes>>} */
  let manifest = [];
  const inManifest = await holdUps(page, async () => {
    manifest = await strokes(playground, "agents.md", [version, scope], rounds);
  });

  const id = { at: '"id": "server-05000', keys: ["x", "Backspace"] };
  await strokes(playground, "mcp.index.json", [id], 1);
  /** @type {Awaited<ReturnType<typeof strokes>>} */
  let index = [];
  const inIndex = await holdUps(page, async () => {
    index = await strokes(playground, "mcp.index.json", [id], rounds);
  });

  await playground.open("Matrix");
  const scrolling = await holdUps(page, () =>
    page.locator(".scroller").evaluate(async (scroller) => {
      const { scrollHeight } = scroller;
      for (let step = 0; step <= 60; step++) {
        scroller.scrollTop = (scrollHeight * step) / 60;
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    }),
  );

  const of = (/** @type {import("./measure.mjs").Stroke[]} */ all, /** @type {"ms" | "engine" | "frames"} */ what, /** @type {number} */ share) =>
    percentile(all.map((each) => each[what]), share);
  const longest = (/** @type {{ longTasks: number[] }} */ { longTasks }) => Math.max(0, ...longTasks);
  return {
    "first paint, 1.6 Mbit/s": first.paint,
    "first verdict, cold": first.verdict,
    "agents.md, key to verdict, p50": of(manifest, "ms", 0.5),
    "agents.md, key to verdict, p99": of(manifest, "ms", 0.99),
    "agents.md, engine, p50": of(manifest, "engine", 0.5),
    "agents.md, engine, p99": of(manifest, "engine", 0.99),
    "agents.md, longest task": longest(inManifest),
    "index, key to verdict, p50": of(index, "ms", 0.5),
    "index, key to verdict, p99": of(index, "ms", 0.99),
    "index, engine, p50": of(index, "engine", 0.5),
    "index, longest task": longest(inIndex),
    "index, longest task while pasting": longest(pasting),
    "matrix, longest task while scrolling": longest(scrolling),
    "hello-agent, key to verdict, p50": of(hello, "ms", 0.5),
    "hello-agent, key to verdict, p99": of(hello, "ms", 0.99),
    "hello-agent, key to verdict, frames, p50": of(hello, "frames", 0.5),
    "hello-agent, key to verdict, frames, p99": of(hello, "frames", 0.99),
  };
}

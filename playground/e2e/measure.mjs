// Times from a key to the frame that shows the answer.

/** @import { Page } from "playwright-core" */
/** @import { InputName, Playground } from "./playground.mjs" */

/**
 * @typedef {object} Stroke
 * @property {number} ms from the key to the frame after the answer was put into the page
 * @property {number} frames how many frames were drawn meanwhile
 * @property {number} engine how long the engine took, in milliseconds
 */

/**
 * Makes the page measure times. Call it before the page is loaded.
 * @param {Page} page
 */
export async function takeTimes(page) {
  await page.addInitScript(() => {
    const times = { strokes: [], longTasks: [], engine: 0, gap: 0 };
    window.times = times;

    window.Worker = class extends Worker {
      constructor(...given) {
        super(...given);
        window.engineWorker = this;
        this.addEventListener("message", ({ data }) => {
          if (data.answer) times.engine = data.milliseconds;
        });
      }
    };

    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) times.longTasks.push(Math.round(duration));
    }).observe({ type: "longtask" });

    // The time in which nothing else can run.
    let beat = performance.now();
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      const now = performance.now();
      times.gap = Math.max(times.gap, now - beat);
      beat = now;
      setTimeout(() => channel.port2.postMessage(0), 4);
    };
    channel.port2.postMessage(0);

    let current;
    let frame = 0;
    const count = () => {
      frame++;
      requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
    addEventListener("keydown", ({ timeStamp }) => (current = { start: timeStamp, frame }), { capture: true });
    new MutationObserver(() => {
      const answered = document.querySelector("#answer-panel")?.ariaBusy === "false";
      if (!current || !answered) return;
      const { start, frame: first } = current;
      current = undefined;
      requestAnimationFrame(() => {
        const painted = new MessageChannel();
        painted.port1.onmessage = () => {
          times.strokes.push({ ms: performance.now() - start, frames: frame - first, engine: times.engine });
          times.answered?.();
        };
        painted.port2.postMessage(0);
      });
    }).observe(document, { subtree: true, attributes: true, attributeFilter: ["aria-busy"] });
  });
}

/**
 * Types single keys, each when the one before is answered.
 * @param {Playground} playground
 * @param {InputName} name
 * @param {{ at: string, keys: string[] }[]} places keys are typed behind the first occurrence of a text
 * @param {number} rounds how often all of it is typed
 * @returns {Promise<Stroke[]>}
 */
export async function strokes(playground, name, places, rounds) {
  const { page } = playground;
  await page.evaluate(() => (window.times.strokes = []));
  for (let round = 0; round < rounds; round++) {
    for (const { at, keys } of places) {
      await playground.input(name).evaluate((content, text) => {
        const { view } = content.cmTile.root;
        const anchor = view.state.doc.toString().indexOf(text) + text.length;
        view.focus();
        view.dispatch({ selection: { anchor }, scrollIntoView: true });
      }, at);
      for (const key of keys) {
        const answered = page.evaluate(() => new Promise((resolve) => (window.times.answered = () => resolve(undefined))));
        await page.keyboard.down(key);
        await answered;
        // Browsers let answers wait for the frame behind each event of a key, and fingers take longer.
        await page.keyboard.up(key);
      }
    }
  }
  return page.evaluate(() => window.times.strokes);
}

/**
 * @param {Page} page
 * @param {() => Promise<unknown>} body
 * @returns {Promise<{ longTasks: number[], gap: number }>} what the page's own thread was held up by meanwhile
 */
export async function holdUps(page, body) {
  await page.evaluate(() => Object.assign(window.times, { longTasks: [], gap: 0 }));
  await body();
  // The browser reports tasks a moment after they end.
  await page.evaluate(() => new Promise((resolve) => requestIdleCallback(() => setTimeout(resolve, 50))));
  return page.evaluate(() => ({ longTasks: window.times.longTasks, gap: window.times.gap }));
}

/** @param {number[]} values @param {number} share from 0 to 1 @returns {number} the value that this share does not pass */
export function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

/**
 * Measures how much longer work takes because other programs share the processor: a bound of time that is multiplied by it
 * holds on a busy machine, and is the bound itself on a quiet one.
 * @param {Page} page
 * @returns {Promise<number>} the mean time of equal pieces of work by the shortest one, at least 1
 */
export function slowdown(page) {
  return page.evaluate(() => {
    const times = [];
    for (let piece = 0; piece < 40; piece++) {
      const start = performance.now();
      let sum = 0;
      for (let step = 0; step < 5_000_000; step++) sum = (sum * 31 + step) | 0;
      times.push(performance.now() - start + (sum & 0));
    }
    // The compiler of the browser takes part in the first pieces.
    const settled = times.slice(10);
    return settled.reduce((all, one) => all + one, 0) / settled.length / Math.min(...settled);
  });
}

// `node playground/e2e/pictures.mjs FOLDER`: a picture of every main state of the built page, and of its embedded parts, for
// a person to look at: in the usual widths and at 400 %, light and dark.

import { mkdir } from "node:fs/promises";
import path from "node:path";
import { start } from "./browser.mjs";
import { PARTS } from "./embeds.mjs";
import { takeTimes } from "./measure.mjs";
import { ARRIVALS, STATES, UNDECIDED } from "./states.mjs";

const [folder = "pictures"] = process.argv.slice(2);
await mkdir(folder, { recursive: true });

/** A window of 1280 × 900 at 400 % has the last. */
const SIZES = { 1440: [1440, 860], 1024: [1024, 860], 390: [390, 860], 320: [320, 740], "400%": [320, 225] };

const browser = await start();
let pictures = 0;
for (const [size, [width, height]] of Object.entries(SIZES)) {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    const look = { colorScheme, viewport: { width, height } };
    const take = async (/** @type {import("playwright-core").Page} */ page, /** @type {string} */ name) => {
      await page.screenshot({ path: path.join(folder, `${name}-${size}-${colorScheme}.png`) });
      pictures += 1;
    };
    for (const [states, example] of /** @type {const} */ ([[ARRIVALS, ""], [STATES, undefined]])) {
      await browser.visit(async ({ playground, page }) => {
        await takeTimes(page);
        await page.reload();
        for (const [state, reach] of Object.entries(states)) {
          await reach(playground);
          if (!UNDECIDED.includes(state)) await playground.settled();
          await take(page, state);
        }
      }, { browser: look, example });
    }
    await browser.visit(async ({ page, address }) => {
      for (const [part, answer] of Object.entries(PARTS)) {
        await page.goto(`${address}?embed=${part}`);
        await page.locator(answer).first().waitFor();
        await take(page, `embed-${part}`);
      }
    }, { browser: look, example: "", wait: false });
  }
}
await browser.close();
console.log(`${pictures} pictures are in ${folder}`);

// `node playground/e2e/pictures.mjs FOLDER`: a picture of every main state of the built page for a person
// to look at, in the usual widths, light and dark.

import { mkdir } from "node:fs/promises";
import path from "node:path";
import { start } from "./browser.mjs";
import { STATES } from "./states.mjs";

const [folder = "pictures"] = process.argv.slice(2);
await mkdir(folder, { recursive: true });

const browser = await start();
for (const width of [1440, 1024, 390]) {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    await browser.visit(async ({ playground, page }) => {
      for (const [state, reach] of Object.entries(STATES)) {
        await reach(playground);
        await playground.settled();
        await page.screenshot({ path: path.join(folder, `${state}-${width}-${colorScheme}.png`) });
      }
    }, { browser: { colorScheme, viewport: { width, height: 860 } } });
  }
}
await browser.close();
console.log(`${Object.keys(STATES).length * 6} pictures are in ${folder}`);

// Every main state, light and dark, wide and narrow: no violation that axe finds, and a picture of
// each for a person to look at, in the folder that SCREENSHOTS names.

import assert from "node:assert/strict";
import { mkdir, mkdtemp } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import axe from "axe-core";
import { violations } from "./axe.mjs";
import { takeTimes } from "./measure.mjs";
import { ARRIVALS, LOOKS, STATES, UNDECIDED } from "./states.mjs";
import { visit } from "./visit.mjs";

const folder = process.env.SCREENSHOTS || (await mkdtemp(path.join(os.tmpdir(), "playground-")));
await mkdir(folder, { recursive: true });

for (const look of LOOKS) {
  for (const [which, states] of /** @type {const} */ ([["a first visit", ARRIVALS], ["any state", STATES]])) {
    visit(`${look.name}: axe finds no serious violation in ${which}`, async ({ playground, page }, t) => {
      t.diagnostic(`pictures are in ${folder}`);
      const found = [];
      await takeTimes(page);
      await page.reload();
      await page.evaluate(axe.source);
      for (const [state, reach] of Object.entries(states)) {
        await reach(playground);
        if (!UNDECIDED.includes(state)) await playground.settled();
        await page.screenshot({ path: path.join(folder, `${state}-${look.name}.png`) });
        for (const violation of await violations(page, look.rules)) found.push(`${state}: ${violation}`);
      }
      assert.equal(found.length, 0, `\n${found.join("\n")}`);
    }, { browser: look.browser, ...(states === ARRIVALS && { example: "" }) });
  }
}

// `node playground/e2e/bench.mjs`: how fast the built page is, as a table in Markdown.

import { start } from "./browser.mjs";
import { INDEX, REQUIREMENTS, SERVERS } from "./large.mjs";
import { TARGETS, measure } from "./speed.mjs";

const ROUNDS = 50;

const browser = await start();
await browser.visit(async (visit) => {
  const figures = await measure(visit, ROUNDS);
  const size = (INDEX.length / 1e6).toFixed(1);
  console.log(`${SERVERS} servers (${size} MB) and ${REQUIREMENTS} requirements; milliseconds, where nothing else is said.\n`);
  console.log("| figure | measured | target |\n|---|---:|---:|");
  for (const [name, value] of Object.entries(figures)) {
    const target = TARGETS[name];
    const missed = target !== undefined && value > target ? " **missed**" : "";
    console.log(`| ${name} | ${Number.isInteger(value) ? value : value.toFixed(1)} | ${target === undefined ? "" : `≤ ${target}${missed}`} |`);
  }
});
await browser.close();

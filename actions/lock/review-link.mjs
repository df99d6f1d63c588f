// `node review-link.mjs PLAYGROUND VERSION BEFORE AFTER`: prints a link to the review of two locks, as Markdown.
//
// The link holds both locks behind `#`, which browsers send to no server. `docs/how-to/playground.md` describes
// its form. Nothing is printed where the link would be longer than the page makes them.

import { readFileSync } from "node:fs";
import { deflateRawSync } from "node:zlib";

/** The limit of the page, in characters. */
const LINK_LIMIT = 32_000;

const [playground, version, before, after] = process.argv.slice(2);
const inputs = {
  area: "diff",
  beforeLock: readFileSync(before, "utf8"),
  engine: version,
  lock: readFileSync(after, "utf8"),
};
const packed = deflateRawSync(JSON.stringify(inputs), { level: 9 }).toString("base64url");
const link = `${playground}#diff.1.${packed}`;
if (link.length <= LINK_LIMIT) console.log(`\n[Review this change in the playground](${link})`);

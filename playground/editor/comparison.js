// The differences from another text, within the text: added parts are marked, and removed parts are
// shown above them.

import { unifiedMergeView } from "@codemirror/merge";
import { COMPARE_MAX_UNITS, COMPARE_TIMEOUT_MS } from "./limits.js";

/** @import { Extension } from "@codemirror/state" */

/**
 * @param {string} original with "\n" line ends
 * @param {number} length of the text that is compared with it
 * @returns {Extension | null} null if it would take too long
 */
export function comparison(original, length) {
  if (Math.max(original.length, length) > COMPARE_MAX_UNITS) return null;
  return unifiedMergeView({
    original,
    mergeControls: false,
    gutter: false,
    // A removed part is parsed on its own, so that its keys would have other colours.
    syntaxHighlightDeletions: false,
    diffConfig: { scanLimit: 1_000, timeout: COMPARE_TIMEOUT_MS },
  });
}

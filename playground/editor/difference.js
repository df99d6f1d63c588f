// The one change that turns a text into another. It leaves the common start and end untouched, and
// with them selection, folding and scroll position.

/**
 * @param {string} before
 * @param {string} after
 * @returns {{ from: number, to: number, insert: string } | undefined} undefined if they are the same
 */
export function difference(before, after) {
  if (before === after) return undefined;
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  let end = 0;
  while (
    end < shorter - start &&
    before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)
  ) {
    end++;
  }
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}

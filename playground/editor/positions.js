// Between the positions of the engine (lines and columns from 1, columns in UTF-16 code units) and
// the offsets of CodeMirror.

/** @import { Text } from "@codemirror/state" */

/** @typedef {{ line: number, column: number }} Position line and column from 1, columns in UTF-16 units */
/** @typedef {{ start: Position, end: Position }} Place */

/**
 * @param {Text} doc
 * @param {Position | null | undefined} position
 * @returns {number} its offset; that of the nearest position in the text if it lies outside
 */
export function offsetOf(doc, position) {
  const number = Math.trunc(Number(position?.line)) || 0;
  if (number < 1) return 0;
  if (number > doc.lines) return doc.length;
  const line = doc.line(number);
  const column = Math.trunc(Number(position?.column)) || 1;
  return line.from + Math.min(Math.max(column - 1, 0), line.length);
}

/**
 * @param {Text} doc
 * @param {Partial<Place>} place without an end, it ends where it starts
 * @returns {{ from: number, to: number }} from <= to
 */
export function rangeOf(doc, place) {
  const from = offsetOf(doc, place.start);
  return { from, to: Math.max(from, place.end ? offsetOf(doc, place.end) : from) };
}

// The colours of policies: words, strings, numbers and comments.

import { StreamLanguage } from "@codemirror/language";

const KEYWORDS = new Set(
  "as contains default else every false if import in not null package some true with".split(" "),
);

/** @typedef {{ raw: boolean }} State whether a line begins within a string in backquotes */

export const rego = StreamLanguage.define({
  name: "rego",
  /** @returns {State} */
  startState: () => ({ raw: false }),
  token(stream, /** @type {State} */ state) {
    if (state.raw) {
      if (stream.skipTo("`")) {
        stream.next();
        state.raw = false;
      } else {
        stream.skipToEnd();
      }
      return "string";
    }
    if (stream.eatSpace()) return null;
    if (stream.match(/^#.*/)) return "comment";
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
    if (stream.eat("`")) {
      state.raw = true;
      return "string";
    }
    if (stream.match(/^\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/)) return "number";
    const word = /** @type {RegExpMatchArray | null} */ (stream.match(/^[A-Za-z_]\w*/));
    if (word) return KEYWORDS.has(word[0]) ? "keyword" : null;
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "#" } },
});

// The document as one string, which the page reads after each keystroke.
//
// CodeMirror keeps a tree of lines, and joining the 200,000 lines of 5 MB takes noticeable time.
// Patching the previous string at the changed places copies memory at most once.

import { CACHE_MAX_CHANGES } from "./limits.js";

/** @import { ChangeSet, Text } from "@codemirror/state" */

export class TextCache {
  /** @type {string | null} null if it must be joined again */
  #text;

  /** @param {string} text with "\n" line ends */
  constructor(text) {
    this.#text = text;
  }

  /** @param {ChangeSet} changes of the cached text */
  update(changes) {
    const before = this.#text;
    if (before === null) return;
    let after = "";
    let copied = 0;
    let count = 0;
    changes.iterChanges((fromA, toA, _fromB, _toB, inserted) => {
      if (++count > CACHE_MAX_CHANGES) return;
      after += before.slice(copied, fromA) + inserted.toString();
      copied = toA;
    });
    this.#text = count > CACHE_MAX_CHANGES ? null : after + before.slice(copied);
  }

  /**
   * @param {Text} doc the document as it is now
   * @returns {string}
   */
  text(doc) {
    return (this.#text ??= doc.toString());
  }
}

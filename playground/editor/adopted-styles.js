// Replaces the package `style-mod`, which adds CodeMirror's style rules to the page (see build.mjs).
//
// In a document, the package writes a <style> element. A policy of `style-src 'self'` blocks that,
// and a page that is a file cannot have a fresh nonce. In a shadow root, the package uses constructed
// style sheets, which come from script alone and are not subject to `style-src`. So this passes it an
// object that looks like a shadow root and adopts the sheet into the document.

import { StyleModule as Original } from "../node_modules/style-mod/src/style-mod.js";

/** @type {WeakMap<Document | ShadowRoot, object>} */
const roots = new WeakMap();

/** @param {Document | ShadowRoot} root */
function rootOf(root) {
  let adopting = roots.get(root);
  if (!adopting) {
    adopting = {
      ownerDocument: root.ownerDocument ?? root,
      get adoptedStyleSheets() {
        return root.adoptedStyleSheets;
      },
      set adoptedStyleSheets(sheets) {
        root.adoptedStyleSheets = sheets;
      },
    };
    roots.set(root, adopting);
  }
  return adopting;
}

export class StyleModule extends Original {
  /**
   * @param {Document | ShadowRoot} root
   * @param {Original | readonly Original[]} modules
   */
  static mount(root, modules) {
    // @ts-expect-error -- it has the used members of a ShadowRoot only
    super.mount(rootOf(root), modules);
  }
}

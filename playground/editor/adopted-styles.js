// Stands in for the package `style-mod`, through which CodeMirror brings its style rules into the
// page (build.mjs puts this in its place).
//
// In a document the package writes a <style> element. A policy of `style-src 'self'` blocks that,
// and a page that is a file cannot have a fresh nonce. In a shadow root it uses constructed style
// sheets, which come from script alone and are not subject to `style-src`. So it is shown
// something that looks to it like a shadow root and adopts the sheet into the document.

import { StyleModule as Original } from "../node_modules/style-mod/src/style-mod.js";

/** @type {WeakMap<Document | ShadowRoot, object>} */
const stands = new WeakMap();

/** @param {Document | ShadowRoot} root */
function standIn(root) {
  let stand = stands.get(root);
  if (!stand) {
    stand = {
      ownerDocument: root.ownerDocument ?? root,
      get adoptedStyleSheets() {
        return root.adoptedStyleSheets;
      },
      set adoptedStyleSheets(sheets) {
        root.adoptedStyleSheets = sheets;
      },
    };
    stands.set(root, stand);
  }
  return stand;
}

export class StyleModule extends Original {
  /**
   * @param {Document | ShadowRoot} root
   * @param {Original | readonly Original[]} modules
   */
  static mount(root, modules) {
    // @ts-expect-error -- it is no ShadowRoot, but has all that is used of one
    super.mount(standIn(root), modules);
  }
}

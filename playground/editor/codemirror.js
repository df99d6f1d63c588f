// What completion.js uses of CodeMirror: loaded later, it is to share the one of editor.js, and
// imports it from there (see build.mjs).

export { syntaxTree, indentUnit } from "@codemirror/language";
export { forEachDiagnostic } from "@codemirror/lint";
export {
  Annotation,
  CharCategory,
  EditorSelection,
  Facet,
  MapMode,
  Prec,
  RangeSet,
  RangeValue,
  StateEffect,
  StateField,
  Text,
  Transaction,
  codePointAt,
  codePointSize,
  combineConfig,
  fromCodePoint,
} from "@codemirror/state";
export {
  Decoration,
  Direction,
  EditorView,
  ViewPlugin,
  WidgetType,
  getTooltip,
  hoverTooltip,
  keymap,
  logException,
  showTooltip,
} from "@codemirror/view";

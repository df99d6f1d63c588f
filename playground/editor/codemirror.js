// What comparison.js and completion.js use of CodeMirror: loaded later, they are to share the one of
// editor.js, and import it from there (see build.mjs).

export { highlightingFor, indentUnit, language, syntaxTree } from "@codemirror/language";
export { forEachDiagnostic } from "@codemirror/lint";
export {
  Annotation,
  ChangeSet,
  CharCategory,
  Compartment,
  EditorSelection,
  EditorState,
  Facet,
  MapMode,
  Prec,
  RangeSet,
  RangeSetBuilder,
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
  GutterMarker,
  ViewPlugin,
  WidgetType,
  getTooltip,
  gutter,
  hoverTooltip,
  keymap,
  logException,
  showTooltip,
} from "@codemirror/view";
export { highlightTree } from "@lezer/highlight";

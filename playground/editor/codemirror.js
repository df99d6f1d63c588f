// What comparison.js, completion.js and search.js use of CodeMirror: loaded later, they are to share the one of
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
  findClusterBreak,
  fromCodePoint,
} from "@codemirror/state";
export {
  Decoration,
  Direction,
  EditorView,
  GutterMarker,
  ViewPlugin,
  WidgetType,
  getDialog,
  getPanel,
  getTooltip,
  gutter,
  hoverTooltip,
  keymap,
  logException,
  runScopeHandlers,
  showDialog,
  showPanel,
  showTooltip,
} from "@codemirror/view";
export { highlightTree } from "@lezer/highlight";

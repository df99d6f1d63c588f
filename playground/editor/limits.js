// Sizes above which the editor omits features, so that typing stays fluent. They count UTF-16 code
// units of the text.

/** Syntax tree, with colours, folding, brackets and indentation. Larger JSON has the first two without. */
export const TREE_MAX_UNITS = 300_000;

/** Number of lines that fold together where there is no syntax tree. */
export const FOLD_MAX_LINES = 2_000;

/** A larger text is pasted in parts of this size. It is too large for a syntax tree, so that no part has one. */
export const PASTE_PART_UNITS = 400_000;

/** The gutter with a mark beside each line that has a problem. */
export const PROBLEM_GUTTER_MAX_UNITS = 8_000_000;

/**
 * A text with a line longer than this is generated, or hostile, and gets neither syntax nor special
 * characters: 2 million `[` cost 100 ms at each keystroke, as many directional characters seconds.
 */
export const LINE_MAX_UNITS = 100_000;

/** A longer line is not broken where it doesn't fit. */
export const WRAPPED_LINE_MAX_UNITS = 1_000_000;

/** Number of problems to mark. The page's list has the rest. */
export const PROBLEMS_MAX_COUNT = 1_000;

/** Number of places to highlight. */
export const PLACES_MAX_COUNT = 1_000;

/** Comparison, for either text. All deleted lines are in the page at once, not only those in view. */
export const COMPARE_MAX_UNITS = 300_000;

/** Time for finding a small difference; after that, a correct but larger one is shown. */
export const COMPARE_TIMEOUT_MS = 40;

/** Number of changes of a transaction above which the cached text is dropped. */
export const CACHE_MAX_CHANGES = 500;

// Above which size the editor does less, so that typing stays fluent. Sizes are of the text, in
// UTF-16 code units.

/** Syntax tree and what needs one: colours, folding, brackets, indentation. */
export const SYNTAX_MAX_UNITS = 8_000_000;

/** The gutter with a mark beside each line that has a problem. */
export const PROBLEM_GUTTER_MAX_UNITS = 8_000_000;

/**
 * A text with a line longer than this is generated, or hostile, and gets neither syntax nor special
 * characters: 2 million `[` cost 100 ms at each keystroke, as many directional characters seconds.
 */
export const LINE_MAX_UNITS = 100_000;

/** Problems that are marked; the rest is only in the page's list. */
export const PROBLEMS_MAX_COUNT = 1_000;

/** Places that are highlighted at a time. */
export const PLACES_MAX_COUNT = 1_000;

/** Comparison: of either text. All deleted lines are in the page at once, not only those in view. */
export const COMPARE_MAX_UNITS = 300_000;

/** Time for finding a small difference; after that, a correct but larger one is shown. */
export const COMPARE_TIMEOUT_MS = 40;

/** A transaction of more changes than this is not copied into the cached text piece by piece. */
export const CACHE_MAX_CHANGES = 500;

// Parts of the page that other pages show.

/** What is there once each has its answer. */
export const PARTS = { verdict: ".answer-line", funnel: ".funnel", matrix: "[role=grid]", session: ".tool-list" };

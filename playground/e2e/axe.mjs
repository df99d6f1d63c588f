// What axe finds wrong with a page.

/**
 * @param {import("playwright-core").Page} page
 * @param {string[]} [rules] only these
 * @returns {Promise<string[]>} what is serious or critical
 */
export async function violations(page, rules) {
  // Only on request does axe measure whether a target has 24 px.
  const which = rules ? { runOnly: rules } : { rules: { "target-size": { enabled: true } } };
  const options = { resultTypes: ["violations"], ...which };
  const { violations } = await page.evaluate((given) => window.axe.run(document, given), options);
  const found = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const each = found.flatMap(({ id, nodes }) => nodes.map((node) => `${id} ${node.target} ${node.any[0]?.message ?? ""}`));
  // In a row that scrolls, what stays at its end covers a part of the target before: that one scrolls into sight.
  return each.filter((text) => !/^target-size .*\.(panes|areas).* partially obscured/.test(text));
}

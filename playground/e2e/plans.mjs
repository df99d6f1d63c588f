// The page of plans, as a person handles it.

import { readFileSync } from "node:fs";
import { Inputs } from "./inputs.mjs";
import { visit } from "./visit.mjs";

/** @param {string} file of the examples, as the first visit shows them */
const example = (file) => readFileSync(new URL(`../../examples/plans/${file}`, import.meta.url), "utf8");

export const PLAN = example("mcp.plan.json");
export const POOL = example("tool-pool.json");
export const PROFILE = example("profile.json");
export const CALL = example("call.json");
export const INDEX = example("mcp.index.json");
export const SUMMARY = example("summary.json");
export const PAYLOAD = example("payload.json");

/** @typedef {"Plans" | "One call" | "Grounding"} AreaName */

export class Plans extends Inputs {
  /** @param {import("playwright-core").Page} page */
  constructor(page) {
    super(page, "#plans", "#decided");
    this.decided = page.getByRole("region", { name: "Decision" });
    this.steps = this.root.locator(".step");
    this.detail = this.root.locator(".detail");
    this.claims = this.root.locator(".claim");
  }

  /** @param {AreaName | "Servers"} name */
  async area(name) {
    await this.page.getByRole("navigation", { name: "Areas" }).getByRole("link", { name, exact: true }).click();
  }

  /** @param {string} title of an example */
  async example(title) {
    await this.press("Examples");
    await this.dialog.locator(".example", { has: this.page.getByText(title, { exact: true }) }).click();
    await this.noticeIs("Opened the example");
    await this.settled();
  }

  /** @param {string} name @returns the button of a check, of the first step that has it */
  check(name) {
    return this.steps.getByRole("button", { name: new RegExp(`^${name} ?, `) }).first();
  }

  /** @returns {Promise<string[]>} what is marked in an input, and as what */
  marked(/** @type {import("./inputs.mjs").InputName} */ name) {
    return this.input(name).evaluate((content) => {
      const marks = [...content.querySelectorAll(".cm-place")].filter((mark) => !mark.parentElement.closest(".cm-place"));
      return marks.map((mark) => {
        const tones = [...mark.classList].filter((word) => word.startsWith("cm-place-")).map((word) => word.slice("cm-place-".length));
        return `${tones.join(" ")}: ${mark.textContent}`;
      });
    });
  }
}

/**
 * A visit that begins in an area of plans.
 * @param {string} fragment of the area
 * @param {string} name
 * @param {(plans: Plans, visit: import("./browser.mjs").Visit, t: import("node:test").TestContext) => Promise<void>} body
 * @param {import("./browser.mjs").Options} [options]
 */
export function visitPlans(fragment, name, body, options) {
  visit(name, async (each, t) => {
    const plans = new Plans(each.page);
    await plans.headline.waitFor();
    await plans.settled();
    await body(plans, each, t);
  }, { ...options, fragment, wait: false });
}

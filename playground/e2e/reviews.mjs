// The page of reviews, as a person handles it.

import { readFileSync } from "node:fs";
import { Inputs } from "./inputs.mjs";
import { visit } from "./visit.mjs";

/** @param {string} file of the examples */
const example = (file) => readFileSync(new URL(`../review-page/examples/${file}`, import.meta.url), "utf8");

export const BEFORE = example("before.agents.lock");
export const AFTER = example("agents.lock");

export class Reviews extends Inputs {
  /** @param {import("playwright-core").Page} page */
  constructor(page) {
    super(page, "#review", "#review-answer");
    this.facts = this.root.locator(".headline .facts");
    this.drifts = this.root.locator(".drifts > ul > li");
    this.tools = this.root.getByRole("region", { name: "Definitions of tools" }).locator("details");
    this.documents = this.root.getByRole("region", { name: "Documents" }).locator("details");
  }

  /** @param {import("./inputs.mjs").InputName} name of an input to bring to the front: one name ends in the other */
  async show(name) {
    if (await this.input(name).isVisible()) return;
    await this.root.locator("button.input-name", { hasText: new RegExp(`^${name}`) }).click();
  }

  /** @param {string} name of an area */
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
}

/**
 * A visit that begins with a review.
 * @param {string} name
 * @param {(reviews: Reviews, visit: import("./browser.mjs").Visit, t: import("node:test").TestContext) => Promise<void>} body
 * @param {import("./browser.mjs").Options} [options]
 */
export function visitReviews(name, body, options) {
  visit(name, async (each, t) => {
    const reviews = new Reviews(each.page);
    await reviews.headline.waitFor({ state: "attached" });
    await reviews.settled();
    await body(reviews, each, t);
  }, { ...options, fragment: "diff", wait: false });
}

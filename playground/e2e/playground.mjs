// The page about servers, as a person handles it.

import { Inputs } from "./inputs.mjs";

export class Playground extends Inputs {
  /** @param {import("playwright-core").Page} page */
  constructor(page) {
    super(page, "#servers", "#answer-panel");
    // Its reason is below the answer.
    this.headline = this.root.locator(".headline");
    this.tabs = page.getByRole("tablist", { name: "Views" });
    this.answer = page.getByRole("tabpanel");
    this.cards = this.root.locator(".card");
    this.explanation = page.getByRole("complementary", { name: "Explanation" });
  }

  /** Waits for the answer on a tab with a headline. */
  async verdict() {
    await this.headline.waitFor();
    await this.settled();
  }

  /** @param {string | RegExp} text that the headline is to have */
  async says(text) {
    await this.headline.filter({ hasText: text }).waitFor();
    await this.verdict();
  }

  /** @param {string} category @returns the card of a requirement */
  card(category) {
    return this.cards.filter({ has: this.page.getByRole("heading", { name: category, level: 3 }) });
  }

  /** @param {string} title of an example, or a part of it */
  async example(title) {
    await this.press("Examples");
    await this.dialog.locator(".example", { hasText: title }).click();
    await this.noticeIs("Opened the example");
    await this.settled();
  }

  /** @param {"Verdict" | "Matrix" | "What if" | "Policy" | "agents.lock" | "Explanation"} name */
  async open(name) {
    await this.tabs.getByRole("tab", { name }).click();
    await this.settled();
  }
}

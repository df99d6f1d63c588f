// The run of a plan, as a person handles it.

import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";

/** @import { Plans } from "./plans.mjs" */

export class Run {
  /** @param {Plans} plans */
  constructor(plans) {
    this.plans = plans;
    this.area = plans.page.getByRole("region", { name: "Run", exact: true });
    this.line = this.area.getByRole("status");
    this.past = this.area.locator(".past li");
    this.files = this.area.locator(".files li");
  }

  async begin() {
    await this.press("Step through a run");
    await this.line.waitFor();
    await this.plans.settled();
  }

  /** @param {string} name of a button */
  async press(name) {
    await this.area.getByRole("button", { name, exact: true }).click();
    await this.plans.settled();
  }

  /** @param {string | RegExp} text */
  async says(text) {
    await this.line.filter({ hasText: text }).waitFor();
    await this.plans.settled();
  }

  /** @param {string} example @returns what the form holds after choosing it */
  async choose(example) {
    await this.area.getByLabel("Result of the action").selectOption({ label: example });
  }

  /** @param {string[]} examples one for each action from here */
  async answer(...examples) {
    for (const example of examples) {
      const before = await this.past.count();
      await this.choose(example);
      await this.press("Next");
      await eventually(async () => assert.equal(await this.past.count(), before + 1));
    }
  }

  /** @param {string} code of the end */
  async endsWith(code) {
    await this.area.locator(".ended").getByRole("link", { name: code, exact: true }).waitFor();
  }

  /** @param {string} step @returns the marks of the parts of a step, as they are announced */
  async parts(step) {
    const parts = this.area.getByRole("list", { name: `Step ${step}` }).getByRole("listitem");
    return this.plans.texts(parts);
  }
}

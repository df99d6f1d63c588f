// The page of sessions, as a person handles it.

import { readFileSync } from "node:fs";
import { Inputs } from "./inputs.mjs";
import { visit } from "./visit.mjs";

/** @param {string} file of the examples */
const example = (file) => readFileSync(new URL(`../session-page/examples/${file}`, import.meta.url), "utf8");

export const REPLY = example("reply.call.json");
export const FIND = example("find.call.json");
export const POLICY = example("policy.rego");
export const LOG = example("agent.audit.jsonl");

export class Sessions extends Inputs {
  /** @param {import("playwright-core").Page} page */
  constructor(page) {
    super(page, "#session", "#session-answer");
    this.decision = this.root.locator(".decision > .answer-line");
    this.tools = this.root.locator(".tool-list > li");
    this.past = this.root.locator(".past > ol > li");
    this.waits = this.root.locator(".waits-for");
    this.calls = this.root.locator(".logged .card");
  }

  /** @param {string | RegExp} text of the decision on the call */
  async decides(text) {
    await this.decision.filter({ hasText: text }).waitFor({ state: "attached" });
    await this.settled();
  }

  /** @param {string} name of a button of the answer */
  async click(name) {
    await this.root.locator("#session-answer").getByRole("button", { name, exact: true }).click();
    await this.settled();
  }

  /** @param {string} name @returns the line of a tool */
  tool(name) {
    return this.tools.filter({ has: this.page.locator(".tool-name", { hasText: new RegExp(`^${name}$`) }) });
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
 * A visit that begins in an area of sessions.
 * @param {"session" | "audit"} fragment of the area
 * @param {string} name
 * @param {(sessions: Sessions, visit: import("./browser.mjs").Visit, t: import("node:test").TestContext) => Promise<void>} body
 * @param {import("./browser.mjs").Options} [options]
 */
export function visitSessions(fragment, name, body, options) {
  visit(name, async (each, t) => {
    const sessions = new Sessions(each.page);
    await (fragment === "audit" ? sessions.headline : sessions.decision).first().waitFor({ state: "attached" });
    await sessions.settled();
    await body(sessions, each, t);
  }, { ...options, fragment, wait: false });
}

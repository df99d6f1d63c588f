// The inputs of a page, as a person uses them.

import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";

/** @typedef {"agents.md" | "mcp.index.json" | "import" | "overlay.yaml" | "agents.lock" | "task.yaml" | "tenant.yaml" | "health.yaml" | "policy.rego" | "context.yaml" | "call.json" | "plan.json" | "tool-pool.json" | "profile.json" | "request.json" | "catalogue.json" | "summary.json" | "payload.json" | "tools-call.json" | "agent.audit.jsonl" | "before/agents.lock" | "before/agents.md" | "before/mcp.index.json" | "before/policy.rego"} InputName */

export class Inputs {
  /**
   * @param {import("playwright-core").Page} page
   * @param {string} root the element of the module
   * @param {string} answer its part with the answer
   */
  constructor(page, root, answer) {
    this.page = page;
    this.root = page.locator(root);
    this.idle = this.root.locator(`${answer}[aria-busy=false]`);
    this.headline = this.root.locator(".headline .answer-line");
    this.dialog = page.getByRole("dialog");
    this.notice = this.root.locator(".notice");
    this.problems = page.getByRole("list", { name: "Problems" });
  }

  /** Waits for the answer to the typed texts. */
  async settled() {
    await this.idle.waitFor({ state: "attached" });
  }

  /** @param {string | RegExp} text that the headline is to have */
  async says(text) {
    await this.headline.filter({ hasText: text }).waitFor({ state: "attached" });
    await this.settled();
  }

  /** @param {string} name of a button of the head */
  async press(name) {
    const toolbar = this.page.getByRole("toolbar");
    const button = toolbar.getByRole("button", { name, exact: true, includeHidden: true }).last();
    if (!(await button.isVisible())) await toolbar.getByRole("button", { name: "Menu" }).click();
    await button.click();
  }

  /** @param {InputName} name @returns what is typed into */
  input(name) {
    return this.root.locator(`.input .cm-content[aria-label="${name}"]`);
  }

  /** @param {InputName} name of an input to bring to the front */
  async show(name) {
    if (await this.input(name).isVisible()) return;
    await this.root.locator("button.input-name", { hasText: name }).click();
  }

  /** @param {InputName} name */
  text(name) {
    return this.input(name).evaluate((content) => content.cmTile.root.view.state.doc.toString());
  }

  /** @param {InputName} name @returns the cursor as `line:column`, from 1 */
  cursor(name) {
    return this.input(name).evaluate((content) => {
      const { doc, selection } = content.cmTile.root.view.state;
      const line = doc.lineAt(selection.main.from);
      return `${line.number}:${selection.main.from - line.from + 1}`;
    });
  }

  /**
   * Types as a person does: selects, and presses keys.
   * @param {InputName} name
   * @param {string} from the first occurrence of this text is selected
   * @param {string} to what is typed
   */
  async type(name, from, to) {
    await this.show(name);
    const at = (await this.text(name)).indexOf(from);
    assert.notEqual(at, -1, `${name} has no ${JSON.stringify(from)}`);
    await this.input(name).evaluate(
      (content, range) => {
        const { view } = content.cmTile.root;
        view.focus();
        view.dispatch({ selection: range, scrollIntoView: true });
      },
      { anchor: at, head: at + from.length },
    );
    if (to === "") await this.page.keyboard.press("Delete");
    else await this.page.keyboard.type(to);
  }

  /**
   * Replaces all of an input, as a person who pastes.
   * @param {InputName} name
   * @param {string} text
   */
  async paste(name, text) {
    await this.show(name);
    // Two tasks: a large text takes a while to cross, which is not the page's time.
    await this.page.evaluate((given) => (window.pasted = given), text);
    await this.input(name).evaluate((content) => {
      const { view } = content.cmTile.root;
      view.focus();
      view.dispatch({ selection: { anchor: 0, head: view.state.doc.length } });
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", window.pasted);
      content.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    });
  }

  /** @param {RegExp | string} text of the notice that comes */
  async noticeIs(text) {
    await this.notice.filter({ hasText: text }).waitFor();
  }

  /** @param {import("playwright-core").Locator} list @returns {Promise<string[]>} the texts, without line breaks */
  async texts(list) {
    return (await list.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim());
  }

  /** @param {import("playwright-core").Locator} list @param {(string | RegExp)[]} expected texts or patterns */
  async has(list, expected) {
    await eventually(async () => {
      const found = await this.texts(list);
      assert.equal(found.length, expected.length, JSON.stringify(found));
      expected.forEach((each, at) => {
        if (typeof each === "string") assert.equal(found[at], each);
        else assert.match(found[at], each);
      });
    });
  }
}

// The page as a person handles it.

import assert from "node:assert/strict";
import { eventually } from "./eventually.mjs";

/** @typedef {"agents.md" | "mcp.index.json" | "agents.lock" | "task.yaml" | "tenant.yaml" | "health.yaml" | "policy.rego" | "context.yaml"} InputName */

export class Playground {
  /** @param {import("playwright-core").Page} page */
  constructor(page) {
    this.page = page;
    this.tabs = page.getByRole("tablist", { name: "Views" });
    this.answer = page.getByRole("tabpanel");
    this.headline = page.locator(".headline .answer-line");
    this.cards = page.locator(".card");
    this.story = page.getByRole("complementary", { name: "Story" });
    this.dialog = page.getByRole("dialog");
    this.notice = page.locator(".notice");
    this.problems = page.getByRole("list", { name: "Problems" });
  }

  /** Waits for an answer to all that was typed. */
  async verdict() {
    await this.headline.waitFor();
    await this.settled();
  }

  /** The same on a tab that may have no headline, or where an input is seen. */
  async settled() {
    await this.page.locator("#answer-panel[aria-busy=false]").waitFor({ state: "attached" });
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
    await this.isTold("Opened the example");
    await this.settled();
  }

  /** @param {"Verdict" | "Matrix" | "What if" | "agents.lock" | "Explanation"} name */
  async open(name) {
    await this.tabs.getByRole("tab", { name }).click();
    await this.settled();
  }

  /** @param {string} name of a button of the head */
  async press(name) {
    await this.page.getByRole("toolbar").getByRole("button", { name, exact: true }).click();
  }

  /** @param {InputName} name @returns what is typed into */
  input(name) {
    return this.page.locator(`.input .cm-content[aria-label="${name}"]`);
  }

  /** @param {InputName} name of an input to bring to the front */
  async show(name) {
    if (await this.input(name).isVisible()) return;
    await this.page.locator("button.input-name", { hasText: name }).click();
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
   * @param {string} from the first place where this text stands is selected
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
    await this.input(name).evaluate((content, pasted) => {
      const { view } = content.cmTile.root;
      view.focus();
      view.dispatch({ selection: { anchor: 0, head: view.state.doc.length } });
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", pasted);
      content.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }, text);
  }

  /** @param {RegExp | string} text of the notice that comes */
  async isTold(text) {
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

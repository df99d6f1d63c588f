// Runs the built editor in a browser: `node --test editor/editor.test.mjs` in the folder of the playground.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import axe from "axe-core";
import { slowdown } from "../e2e/measure.mjs";
import { startBrowser } from "./editor-page.mjs";

const BUNDLE_MAX_GZIP_BYTES = 90_000;

/** Far above what is measured (see the diagnostics), so that only a hang or a relapse fails. */
const TYPING_MAX_TASK_MS = 500;
const LOADING_MAX_TASK_MS = 1_500;

const MANIFEST = `---
# what the agent needs
name: hello-agent
version: 1.0.0
requires:
  mcp:
    - category: reporting
      permissions: [read:reports, "write:reports"]
constraints:
  trust:
    requireSigned: true
---

# Hello

This is for the agent.
`;

const PROBLEM = {
  start: { line: 7, column: 17 },
  end: { line: 7, column: 26 },
  severity: "error",
  code: "UNSATISFIED",
  message: "no server is eligible for `reporting`",
  help: ["nearest is `chart-reports 3.4.1`", "or lower the sensitivity"],
};

const FIXED = {
  ...PROBLEM,
  number: 3,
  page: "https://example.org/UNSATISFIED.md",
  cause: "asked for `here`",
  also: ["mcp.index.json:4:2 offered here"],
  fixes: [{ title: "Change `reporting` to `reports`", widens: false }, { title: "Remove it", widens: true }],
};

/** It says so and goes on, where directional characters let a long line change as it is measured. */
const CODEMIRROR_GIVES_UP = /^Measure loop restarted more than/;

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser?.close());

/**
 * @param {string} name
 * @param {object} options of the editor
 * @param {(page: import("playwright-core").Page, t: import("node:test").TestContext) => Promise<void>} body
 */
function inPage(name, options, body) {
  test(name, async (t) => {
    const { page, complaints } = await browser.open(options);
    try {
      await body(page, t);
      assert.deepEqual(complaints.filter((text) => !CODEMIRROR_GIVES_UP.test(text)), []);
    } finally {
      await page.close();
    }
  });
}

const setText = (page, text) => page.evaluate((value) => window.editor.setText(value), text);
const getText = (page) => page.evaluate(() => window.editor.text());
const focusedId = (page) => page.evaluate(() => document.activeElement?.id);

test("the bundle stays small, and has its licences with it", async (t) => {
  t.diagnostic(`${browser.size.raw} bytes, ${browser.size.gzip} gzip`);
  assert.ok(browser.size.gzip <= BUNDLE_MAX_GZIP_BYTES);
  const licences = await readFile(`${browser.dist}/editor.licenses.txt`, "utf8");
  for (const name of ["@codemirror/view", "@lezer/common", "style-mod", "crelt"]) assert.ok(licences.includes(name), name);
});

test("every colour is a custom property, with the value for light as its fallback", async () => {
  const css = await readFile(new URL("editor.css", import.meta.url), "utf8");
  const colors = await readFile(new URL("colors.js", import.meta.url), "utf8");
  const set = [...css.matchAll(/(--editor-[a-z-]+): light-dark\((#[0-9a-f]+), #[0-9a-f]+\)/g)].map((m) => [m[1], m[2]]);
  const used = [...colors.matchAll(/var\((--editor-[a-z-]+), (#[0-9a-f]+)\)/g)].map((m) => [m[1], m[2]]);
  assert.ok(used.length > 30);
  assert.deepEqual(set, used);
});

inPage("styles hold under a strict policy, and nothing violates it", {}, async (page) => {
  await setText(page, MANIFEST);
  const seen = await page.evaluate(() => ({
    display: getComputedStyle(document.querySelector(".cm-editor")).display,
    key: getComputedStyle([...document.querySelectorAll(".cm-line span")].find((e) => e.textContent === "name")).color,
    styleElements: document.querySelectorAll("style").length,
  }));
  assert.deepEqual(seen, { display: "flex", key: "rgb(5, 80, 174)", styleElements: 0 });
});

inPage("the theme switches without script of the editor", {}, async (page) => {
  const background = () => page.evaluate(() => getComputedStyle(document.querySelector(".cm-editor")).backgroundColor);
  assert.equal(await background(), "rgb(255, 255, 255)");
  await page.evaluate(() => document.documentElement.classList.add("dark"));
  assert.equal(await background(), "rgb(13, 17, 23)");
});

inPage("setText is silent and cannot be undone; typing is reported", {}, async (page) => {
  await setText(page, "a\r\nb\rc\n");
  assert.equal(await getText(page), "a\nb\rc\n");
  assert.deepEqual(await page.evaluate(() => [window.changes, window.editor.canUndo()]), [0, false]);
  await page.evaluate(() => window.editor.focus());
  await page.keyboard.type("xy");
  assert.equal(await getText(page), "xya\nb\rc\n");
  assert.deepEqual(await page.evaluate(() => [window.changes, window.editor.canUndo()]), [2, true]);
  await page.evaluate(() => window.editor.undo());
  assert.equal(await getText(page), "a\nb\rc\n");
  await page.evaluate(() => window.editor.redo());
  assert.deepEqual(await page.evaluate(() => [window.editor.text(), window.changes]), ["xya\nb\rc\n", 4]);
  await setText(page, "new");
  assert.deepEqual(await page.evaluate(() => [window.editor.undo(), window.editor.text(), window.changes]), [false, "new", 4]);
});

inPage("a character that replaces highlighted words leaves no style of theirs", {}, async (page) => {
  await setText(page, MANIFEST);
  await page.evaluate(() => window.editor.focus());
  for (let line = 1; line < 4; line++) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+End");
  await page.keyboard.type("version: 2");
  assert.equal(await getText(page), MANIFEST.replace("version: 1.0.0", "version: 2"));
  assert.equal(await page.locator(".cm-line [style]").count(), 0);
  await page.evaluate(() => window.editor.undo());
  assert.equal(await getText(page), MANIFEST);
});

inPage("long lines are broken and not, also very long ones, and the text stays", {}, async (page, t) => {
  // The editor measures its lines in the next frame.
  const becomes = (wanted) => page.waitForFunction((wanted) => {
    const { scrollWidth, clientWidth } = document.querySelector(".cm-scroller");
    return wanted === (scrollWidth > clientWidth ? "scrolls" : "fits");
  }, wanted, { timeout: 5_000 });
  const line = `{"text":"${"many words ".repeat(40)}"}`;
  await setText(page, line);
  await becomes("scrolls");
  await page.evaluate(() => window.editor.setWrapped(true));
  await becomes("fits");
  // It holds for the next text, and for one without syntax.
  const long = `[${"\"word\", ".repeat(100_000)}0]`;
  const started = performance.now();
  await setText(page, long);
  await becomes("fits");
  await page.evaluate(() => window.editor.focus());
  await page.keyboard.type("xyz");
  t.diagnostic(`a line of ${long.length} characters, and three keys: ${Math.round(performance.now() - started)} ms`);
  assert.equal(await getText(page), `xyz${long}`);
  const took = performance.now() - started;
  assert.ok(took < (LOADING_MAX_TASK_MS + 3 * TYPING_MAX_TASK_MS) * (await slowdown(page)));
  await page.evaluate(() => window.editor.setWrapped(false));
  await becomes("scrolls");
  // Directional characters would cost minutes.
  await page.evaluate(() => {
    window.editor.setWrapped(true);
    window.editor.setText("\\u202e\\u2066\\u05d0b\\u2069a".repeat(160_000));
  });
  await becomes("scrolls");
});

inPage("what is pasted has \"\\n\" line ends", {}, async (page) => {
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.setData("text/plain", "a\r\nb\r\n");
    document.querySelector(".cm-content").dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  assert.deepEqual(await page.evaluate(() => [window.editor.text(), window.changes]), ["a\nb\n", 1]);
});

inPage("replaceAll is one step", {}, async (page) => {
  await setText(page, MANIFEST);
  await page.evaluate((text) => window.editor.replaceAll(text.replace("hello", "good-bye").replace("1.0.0", "2.0.0")), MANIFEST);
  assert.ok((await getText(page)).includes("name: good-bye-agent\nversion: 2.0.0"));
  await page.evaluate((text) => window.editor.replaceAll("nothing of it"), MANIFEST);
  assert.equal(await getText(page), "nothing of it");
  await page.evaluate(() => [window.editor.undo(), window.editor.undo()]);
  assert.equal(await getText(page), MANIFEST);
  assert.deepEqual(await page.evaluate(() => [window.changes, window.editor.canUndo(), window.editor.canRedo()]), [4, false, true]);
});

inPage("text() is right after many edits of all kinds, and undo finds the way back", {}, async (page) => {
  const result = await page.evaluate(() => {
    let seed = 7;
    const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
    const pieces = ["", "x", "\n", "\u{1f600}", "a\nb\n", "long ".repeat(50)];
    const start = Array.from({ length: 300 }, (_, i) => `line ${i}`).join("\n");
    window.editor.setText(start);
    let model = start;
    const position = (offset) => {
      const before = model.slice(0, offset).split("\n");
      return { line: before.length, column: before.at(-1).length + 1 };
    };
    for (let round = 0; round < 90; round++) {
      const at = Array.from({ length: 2 * (1 + random(3)) }, () => random(model.length + 1)).sort((a, b) => a - b);
      const edits = [];
      let next = "";
      let copied = 0;
      for (let i = 0; i < at.length; i += 2) {
        const [from, to, insert] = [at[i], Math.min(at[i + 1], at[i] + 20), pieces[random(pieces.length)]];
        if (from < copied || (i && from === at[i - 1])) continue;
        edits.push({ start: position(from), end: position(to), insert });
        next += model.slice(copied, from) + insert;
        copied = to;
      }
      next += model.slice(copied);
      window.editor.applyEdits(edits);
      model = next;
      if (random(3) && window.editor.text() !== model) return `wrong in round ${round}`;
    }
    while (window.editor.undo());
    return window.editor.text() === start ? "right" : "wrong after undo";
  });
  assert.equal(result, "right");
});

inPage("applyEdits is one step, and scrolls to the first", {}, async (page) => {
  await setText(page, Array.from({ length: 500 }, (_, i) => `line ${i + 1}`).join("\n"));
  await page.evaluate(() =>
    window.editor.applyEdits([
      { start: { line: 400, column: 1 }, end: { line: 400, column: 5 }, insert: "Zeile" },
      { start: { line: 300, column: 6 }, end: { line: 300, column: 6 }, insert: "no. " },
    ]),
  );
  await page.getByText("line no. 300").waitFor();
  assert.ok((await getText(page)).includes("\nZeile 400\n"));
  assert.equal(await page.evaluate(() => window.changes), 1);
  assert.equal(await page.evaluate(() => window.editor.undo() && window.editor.canUndo()), false);
});

inPage("problems are underlined, marked, and shown by pointer and keyboard", {}, async (page) => {
  await setText(page, MANIFEST);
  const far = { line: 1e6, column: 1e6 };
  await page.evaluate((list) => window.editor.setDiagnostics(list), [
    PROBLEM,
    { ...PROBLEM, start: { line: 3, column: 7 }, end: { line: 3, column: 12 }, severity: "warning", code: "ODD_NAME", help: [] },
    { ...PROBLEM, start: far, end: far, code: "AT_THE_END" },
  ]);
  assert.equal(await page.locator(".cm-lintRange-error").textContent(), "reporting");
  assert.equal(await page.locator(".cm-lintRange-warning").textContent(), "hello");
  assert.equal(await page.locator(".cm-lint-marker-error").count(), 2);
  assert.equal(await page.locator(".cm-lint-marker-warning").count(), 1);

  await page.locator(".cm-lintRange-error").hover();
  const tooltip = page.locator(".cm-tooltip-lint");
  await tooltip.waitFor();
  const expected = "error[UNSATISFIED]: no server is eligible for reporting\nhelp: nearest is chart-reports 3.4.1\nhelp: or lower the sensitivity";
  assert.equal(await tooltip.innerText(), expected);
  assert.deepEqual(await tooltip.locator("code").allInnerTexts(), ["reporting", "chart-reports 3.4.1"]);
  await page.mouse.move(1, 1);
  await tooltip.waitFor({ state: "detached" });

  await page.evaluate(() => window.editor.focus());
  await page.keyboard.press("F8");
  await page.getByText("warning[ODD_NAME]").waitFor();
  await page.keyboard.press("F8");
  await page.getByText("error[UNSATISFIED]").waitFor();
  assert.match(await page.locator(".cm-announced").textContent(), /error UNSATISFIED: no server.*Help: nearest/);
  assert.equal(await page.evaluate(() => getSelection().toString()), "reporting");
  await page.keyboard.press("Shift+F8");
  await page.getByText("warning[ODD_NAME]").waitFor();

  await page.evaluate(() => window.editor.setDiagnostics([]));
  assert.equal(await page.locator(".cm-lintRange, .cm-lint-marker").count(), 0);
});

inPage("an editor waits for its features, which take no room then and come to what is there", { isBare: true, language: "json" }, async (page) => {
  await setText(page, '{\n  "a": 1\n}\n');
  const look = () => page.evaluate(() => ({
    left: Math.round(document.querySelector(".cm-line").getBoundingClientRect().left),
    key: getComputedStyle([...document.querySelectorAll(".cm-line *")].findLast((it) => it.textContent === '"a"') ?? document.body).color,
    folds: document.querySelector(".cm-foldGutter [title]") !== null,
  }));
  const at = { start: { line: 2, column: 3 }, end: { line: 2, column: 6 } };
  await page.evaluate((list) => window.editor.setDiagnostics(list), [{ ...PROBLEM, ...at }]);
  const before = await look();
  assert.equal(before.folds, false);
  assert.equal(await page.locator(".cm-lintRange").count(), 0);
  // What is typed meanwhile is kept, and can be undone.
  await page.evaluate(() => window.editor.applyEdits([{ start: { line: 2, column: 8 }, end: { line: 2, column: 9 }, insert: "12" }]));
  await page.evaluate(() => window.loadFeatures());
  assert.deepEqual(await look(), { left: before.left, key: "rgb(5, 80, 174)", folds: true });
  assert.equal(await page.locator(".cm-lintRange-error").textContent(), '"a"');
  assert.deepEqual(await page.evaluate(() => [window.editor.text(), window.editor.undo()]), ['{\n  "a": 12\n}\n', true]);
});

inPage("the first use of an editor loads its features", { isBare: true }, async (page) => {
  await setText(page, MANIFEST);
  assert.equal(await page.locator(".cm-line span").count(), 0);
  await page.evaluate(() => window.editor.focus());
  await page.locator(".cm-line span").first().waitFor();
});

inPage("places get a background", {}, async (page) => {
  await setText(page, MANIFEST);
  const at = (line, column) => ({ line, column });
  await page.evaluate((list) => window.editor.highlight(list), [
    { start: at(3, 1), end: at(3, 5) },
    { start: at(4, 8), end: at(4, 8) },
    { start: at(13, 1), end: at(13, 1) },
    { start: at(0, 0), end: at(-1, -1) },
  ]);
  assert.deepEqual(await page.locator(".cm-place").allTextContents(), ["-", "name", ":", ""]);
  await page.evaluate((list) => window.editor.highlight(list), [
    { start: at(3, 1), end: at(3, 5), tone: "yes" },
    { start: at(4, 8), end: at(4, 8), tone: "no chosen" },
    { start: at(13, 1), end: at(13, 1), tone: "near" },
  ]);
  const marks = page.locator(".cm-place");
  assert.deepEqual(await marks.evaluateAll((all) => all.map((each) => each.className.replace(/cm-(line|activeLine) ?/g, "").trim())), [
    "cm-place cm-place-yes",
    "cm-place cm-place-no cm-place-chosen",
    "cm-place cm-place-near",
  ]);
  await page.evaluate(() => window.editor.highlight([]));
  assert.equal(await page.locator(".cm-place").count(), 0);
});

inPage("reveal scrolls, selects with the keyboard, and takes any place", {}, async (page) => {
  await setText(page, Array.from({ length: 500 }, (_, i) => `line ${i + 1}`).join("\n"));
  await page.locator("#before").focus();
  await page.evaluate(() => window.editor.reveal({ line: 250, column: 1 }, { line: 250, column: 5 }, false));
  await page.getByText("line 250", { exact: true }).waitFor();
  const off = await page.evaluate(() => {
    const line = [...document.querySelectorAll(".cm-line")].find((e) => e.textContent === "line 250").getBoundingClientRect();
    const box = document.querySelector(".cm-scroller").getBoundingClientRect();
    return Math.abs(line.top + line.bottom - box.top - box.bottom) / 2;
  });
  assert.ok(off < 30, `${off} px from the middle`);
  assert.equal(await focusedId(page), "before");
  assert.equal(await page.evaluate(() => getSelection().toString()), "");
  await page.evaluate(() => {
    for (const value of [-1, 0, 1.5, 1e12, NaN, Infinity, undefined, null]) {
      window.editor.reveal({ line: value, column: value }, { line: value, column: value }, false);
      window.editor.reveal({ line: 3, column: value }, { line: 2, column: 1 }, false);
    }
    window.editor.reveal({ line: 2, column: 1 }, { line: 2, column: 5 }, true);
  });
  assert.equal(await page.evaluate(() => getSelection().toString()), "line");
});

inPage("the difference has signs, not colour alone", { language: "json", readOnly: true, label: "Lock" }, async (page) => {
  await setText(page, '{\n  "a": 1,\n  "c": 3\n}\n');
  assert.equal(await page.evaluate(() => window.editor.compare('{\n  "a": 1,\n  "b": 2\n}\n')), true);
  const sign = (selector) => page.evaluate((s) => getComputedStyle(document.querySelector(s), "::before").content, selector);
  assert.equal(await page.locator(".cm-deletedLine").textContent(), '  "b": 2');
  assert.equal(await page.locator(".cm-changedLine").textContent(), '  "c": 3');
  assert.equal(await sign(".cm-deletedLine"), '"−"');
  assert.equal(await sign(".cm-changedLine"), '"+"');

  await setText(page, '{\n  "a": 1,\n  "b": 2\n}\n');
  assert.equal(await page.locator(".cm-deletedLine, .cm-changedLine").count(), 0);
  await setText(page, "{}");
  assert.ok((await page.locator(".cm-deletedLine").count()) > 0);
  assert.equal(await page.evaluate(() => window.editor.compare("{}\nx")), true);
  assert.deepEqual(await page.locator(".cm-deletedLine").allTextContents(), ["{}", "x"]);
  assert.equal(await page.evaluate(() => window.editor.compare(null)), false);
  assert.equal(await page.locator(".cm-deletedLine").count(), 0);
  assert.equal(await page.evaluate(() => window.editor.compare("x\n".repeat(500_000))), false);
  assert.equal(await getText(page), "{}");
});

inPage("a read-only editor is reached by Tab, read, not written, and stays where it is scrolled", { readOnly: true, label: "Lock" }, async (page) => {
  const lines = Array.from({ length: 500 }, (_, i) => `line ${i + 1}`).join("\n");
  await setText(page, lines);
  await page.locator("#before").focus();
  await page.keyboard.press("Tab");
  const content = page.locator(".cm-content:focus");
  assert.equal(await content.getAttribute("aria-label"), "Lock");
  assert.equal(await content.getAttribute("aria-readonly"), "true");
  await page.keyboard.type("x");
  await page.keyboard.press("Enter");
  assert.equal(await getText(page), lines);
  const scroller = page.locator(".cm-scroller");
  await scroller.evaluate((e) => e.scrollTo(0, 3000));
  await page.getByText("line 145", { exact: true }).waitFor();
  for (let round = 0; round < 5; round++) await setText(page, `${lines}\nmore`);
  const moved = await scroller.evaluate((e) => e.scrollTop - 3000);
  assert.ok(Math.abs(moved) < 2, `${moved} px`);
  assert.equal(await page.evaluate(() => window.changes), 0);
});

inPage("Tab leaves the editor, forward and back", {}, async (page) => {
  await setText(page, MANIFEST);
  await page.locator("#before").focus();
  await page.keyboard.press("Tab");
  assert.equal(await page.locator(".cm-content:focus").getAttribute("aria-label"), "Manifest");
  assert.equal(await page.locator(".cm-content").getAttribute("spellcheck"), "false");
  await page.keyboard.type("x");
  await page.keyboard.press("Tab");
  assert.equal(await focusedId(page), "after");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Shift+Tab");
  assert.equal(await focusedId(page), "before");
  assert.equal(await getText(page), `x${MANIFEST}`);
});

inPage("Ctrl-F searches, Escape goes back", {}, async (page) => {
  await setText(page, MANIFEST);
  await page.evaluate(() => window.editor.focus());
  await page.keyboard.press("Control+f");
  // What is typed before the search is loaded does not reach the text.
  await page.keyboard.type("x");
  await page.locator(".cm-search").waitFor();
  assert.equal(await getText(page), MANIFEST);
  await page.getByPlaceholder("Find").fill("");
  await page.keyboard.type("agent");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".cm-searchMatch").count(), 3);
  assert.equal(await page.locator(".cm-searchMatch-selected").count(), 1);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".cm-search").count(), 0);
  assert.equal(await page.locator(".cm-content:focus").count(), 1);
});

inPage("JSON folds", { language: "json" }, async (page) => {
  await setText(page, '{\n  "a": [\n    1,\n    2\n  ]\n}\n');
  await page.locator(".cm-foldGutter [title='Fold line']").nth(1).click();
  assert.equal(await page.locator(".cm-line").nth(1).textContent(), '  "a": […]');
});

inPage("JSON that is too large for a syntax tree has colours and folds", { language: "json" }, async (page) => {
  const item = '  {\n    "id": "a\\"b",\n    "signed": true,\n    "port": -1.5e3\n  }';
  const colours = () =>
    page.evaluate(() =>
      ['"id"', '"a\\"b"', "true", "-1.5e3"].map((token) => {
        const mark = [...document.querySelectorAll(".cm-line span")].find((e) => e.textContent === token);
        return getComputedStyle(mark).color;
      }),
    );
  await setText(page, item);
  const usual = await colours();
  assert.equal(new Set(usual).size, 4);
  await setText(page, `[\n${Array(10_000).fill(item).join(",\n")}\n]\n`);
  assert.deepEqual(await colours(), usual);
  await page.locator(".cm-foldGutter [title='Fold line']").first().click();
  assert.equal(await page.locator(".cm-line").nth(1).textContent(), "  {…},");
});

inPage("a large text is pasted in parts, which are one change and one step for undo", { language: "json" }, async (page) => {
  await setText(page, "[1]");
  const { text, tasks } = await page.evaluate(async () => {
    const pasted = `[\r\n${'  "𝄞x",\r\n'.repeat(300_000)}2]`;
    window.editor.focus();
    const content = document.querySelector(".cm-content");
    const { view } = content.cmTile.root;
    view.dispatch({ selection: { anchor: 1, head: 2 } });
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    await new Promise((resolve) => setTimeout(resolve, 100));
    window.longTasks.length = 0;
    content.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    view.dispatch({ changes: { from: 0, insert: "between the parts" } });
    while (window.changes === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await new Promise((resolve) => setTimeout(resolve, 100));
    return { text: window.editor.text() === `[${pasted.replaceAll("\r\n", "\n")}]`, tasks: window.longTasks };
  });
  assert.ok(text);
  assert.ok(Math.max(0, ...tasks) < TYPING_MAX_TASK_MS * (await slowdown(page)));
  assert.equal(await page.evaluate(() => window.changes), 1);
  await page.evaluate(() => window.editor.undo());
  assert.equal(await getText(page), "[1]");
  assert.equal(await page.evaluate(() => window.editor.canUndo()), false);
});

inPage("a text that comes during a paste stays", { language: "json" }, async (page) => {
  await page.evaluate(() => {
    const content = document.querySelector(".cm-content");
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", "x\n".repeat(1e6));
    content.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    window.editor.setText("another");
  });
  await page.waitForTimeout(200);
  assert.equal(await getText(page), "another");
  await page.evaluate(() => window.editor.focus());
  await page.keyboard.type("y");
  assert.equal(await getText(page), "yanother");
});

inPage("special characters are shown", {}, async (page) => {
  await setText(page, "a\u202eb\u202ac\u2068d\u0000e\ufeff\n");
  assert.equal(await page.locator(".cm-specialChar").count(), 5);
});

inPage("a placeholder stands in an empty editor", { placeholder: "Paste a manifest" }, async (page) => {
  assert.equal(await page.locator(".cm-placeholder").textContent(), "Paste a manifest");
  await setText(page, "x");
  assert.equal(await page.locator(".cm-placeholder").count(), 0);
});

for (const scheme of ["light", "dark"]) {
  inPage(`no accessibility problem, with everything open, ${scheme}`, {}, async (page) => {
    await page.evaluate((name) => document.documentElement.classList.toggle("dark", name === "dark"), scheme);
    await setText(page, MANIFEST);
    await page.evaluate((problem) => {
      window.editor.setDiagnostics([problem]);
      window.editor.highlight([{ start: { line: 3, column: 1 }, end: { line: 3, column: 20 } }]);
      window.editor.focus();
    }, PROBLEM);
    await page.keyboard.press("Control+f");
    await page.keyboard.type("agent");
    await page.locator(".cm-content").focus();
    await page.keyboard.press("F8");
    await page.getByText("error[UNSATISFIED]").waitFor();
    if (process.env.EDITOR_SCREENSHOTS) {
      await page.screenshot({ path: `${process.env.EDITOR_SCREENSHOTS}/editor-${scheme}.png` });
    }
    await page.evaluate(`${axe.source}; 0`);
    const { violations } = await page.evaluate(() => window.axe.run());
    assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), []);
  });
}

/** @param {string} text with `|` at the cursor, where what follows is written */
async function at(page, text) {
  await setText(page, text.replace("|", ""));
  await page.evaluate((offset) => {
    window.editor.focus();
    const { view } = document.querySelector(".cm-content").cmTile.root;
    view.dispatch({ selection: { anchor: offset } });
  }, text.indexOf("|"));
}

/** Asks for completions. @returns {Promise<string[]>} what is offered */
async function offered(page) {
  await page.keyboard.press("Control+Space");
  await page.locator(".cm-tooltip-autocomplete li").first().waitFor();
  return page.locator(".cm-tooltip-autocomplete li .cm-completionLabel").allInnerTexts();
}

/** Takes the first of the completions for what is typed. @returns the text with `|` at the cursor */
async function taken(page, typed = "") {
  await page.keyboard.type(typed);
  // Keys that follow too soon are no choice.
  await page.waitForTimeout(300);
  await page.keyboard.press("Enter");
  return page.evaluate(() => {
    const { state } = document.querySelector(".cm-content").cmTile.root.view;
    const { head } = state.selection.main;
    return `${state.sliceDoc(0, head)}|${state.sliceDoc(head)}`;
  });
}

const inFrontmatter = (text) => `---\n${text}\n---\n`;

/** Each with the first offer, the text typed then, and the result. */
const COMPLETIONS = {
  "keys at the start, the required ones first": ["agents.md", inFrontmatter("|"), ["name", "requires", "version", "constraints"], "co", inFrontmatter("constraints:\n  |")],
  "the keys that are not there yet": ["agents.md", inFrontmatter("name: x\n|"), ["requires", "version", "constraints"], "v", inFrontmatter("name: x\nversion: |")],
  "a key of a mapping in a list": ["agents.md", inFrontmatter("requires:\n  mcp:\n    - |"), ["category", "permissions", "load"], "p", inFrontmatter("requires:\n  mcp:\n    - permissions:\n        - |")],
  "a key between braces": ["agents.md", inFrontmatter("constraints: { data: { | } }"), ["residency", "sensitivity"], "s", inFrontmatter("constraints: { data: { sensitivity: | } }")],
  "another name for a key": ["agents.md", inFrontmatter("constraints:\n  data:\n    sensi|: internal"), ["sensitivity"], "", inFrontmatter("constraints:\n  data:\n    sensitivity|: internal")],
  "closed values, in their order": ["agents.md", inFrontmatter("constraints:\n  data:\n    sensitivity: |"), ["public", "internal", "confidential", "pii.low", "pii.moderate", "pii.high"], "pii.h", inFrontmatter("constraints:\n  data:\n    sensitivity: pii.high|")],
  "other values for one, whichever it is": ["agents.md", inFrontmatter("constraints:\n  data:\n    sensitivity: |internal"), ["public", "internal"], "", inFrontmatter("constraints:\n  data:\n    sensitivity: public|")],
  "true or false": ["agents.md", inFrontmatter("constraints:\n  trust:\n    requireSigned: |"), ["true", "false"], "", inFrontmatter("constraints:\n  trust:\n    requireSigned: true|")],
  "a key of JSON, with its commas": ["mcp.index.json", '{"servers": [{"id": "a"\n| "version": "1"}]}', ["categories", "data", "endpoint", "scopes"], "en", '{"servers": [{"id": "a",\n"endpoint": "|", "version": "1"}]}'],
  "a key of JSON in an open string": ["mcp.index.json", '{"servers": [{"id": "a", "tr|\n}]}', ["trust"], "", '{"servers": [{"id": "a", "trust": {|}\n}]}'],
  "a closed value of JSON": ["mcp.index.json", '{"servers": [{"data": {"maxSensitivity": |}}]}', ["public", "internal"], "pii.m", '{"servers": [{"data": {"maxSensitivity": "pii.moderate"|}}]}'],
  "the states of a health snapshot": ["health.yaml", "acme: |\nother: HEALTHY", ["HEALTHY", "PROBATION"], "UN", "acme: UNHEALTHY|\nother: HEALTHY"],
  "what a kind of binding needs": ["tool-pool.json", '{"bindings": [{"driver_kind": "http", |}]}', ["connector_id"], "meth", '{"bindings": [{"driver_kind": "http", "methods": [|]}]}'],
};

const SERVER = {
  id: "acme",
  version: "2.1.0",
  class: "paid",
  categories: ["audiences"],
  scopes: ["read:audiences", "write:audiences"],
  capabilities: {
    tools: {
      list: {
        description: "List them.",
        inputSchema: { type: "object", properties: { limit: { type: "integer", description: "How many" } }, required: ["limit"] },
        outputSchema: {
          type: "object",
          properties: { "a/b": { type: "array", items: { $ref: "#/$defs/one" } } },
          $defs: { one: { type: "object", properties: { id: { type: "string" }, next: { $ref: "#/$defs/one" } } } },
        },
        "x-summit-capabilities": [{ verb: "read", resource: "x-audiences" }],
      },
    },
  },
};
const OTHER = { id: "other", version: "1.0.0", categories: ["reporting"], scopes: ["read:reports", "read:audiences"] };
const binding = (connector_id, tool_id, more) => ({ connector_id, tool_id, destinations: [], ...more });

/** The texts of the other documents. */
const TEXTS = {
  "mcp.index.json": JSON.stringify({ servers: [OTHER, SERVER] }),
  "tool-pool.json": JSON.stringify({
    pool_id: "pool",
    connectors: [{ connector_id: "mcp", provider: "Acme" }],
    bindings: [
      binding("mcp", "list", { driver_kind: "mcp_proxy", server: "acme", tool: "list" }),
      binding("core", "keep", { driver_kind: "noop" }),
    ],
    schemas: [{ $id: "urn:x:y" }],
  }),
};

/** @param {string} steps @returns a plan with them */
const plan = (steps) => `{"plan": {"steps": [${steps}]}}`;
const LIST = '{"step_id": "one", "connector_id": "mcp", "tool_id": "list"}';
const KEEP = '{"step_id": "two", "connector_id": "core", "tool_id": "keep", "input_from": {"step": "one", "pointer": "/a~1b"}}';

/** The same, with names of other documents. */
const NAMES = {
  "categories of the index": ["agents.md", inFrontmatter("requires:\n  mcp:\n    - category: |"), ["reporting", "audiences"], "a", inFrontmatter("requires:\n  mcp:\n    - category: audiences|")],
  "scopes, those of the category first": ["agents.md", inFrontmatter("requires:\n  mcp:\n    - category: audiences\n      permissions: [read:audiences, |]"), ["read:audiences", "write:audiences", "read:reports"], "w", inFrontmatter("requires:\n  mcp:\n    - category: audiences\n      permissions: [read:audiences, write:audiences|]")],
  "items of a list that is only to begin": ["agents.md", inFrontmatter("requires:\n  mcp:\n    - category: audiences\n      permissions:\n        |"), ["read:audiences", "write:audiences", "read:reports"], "w", inFrontmatter("requires:\n  mcp:\n    - category: audiences\n      permissions:\n        - write:audiences|")],
  "keys of an item of a list that is only to begin": ["agents.md", inFrontmatter("requires:\n  mcp:\n    |"), ["category", "permissions", "load"], "p", inFrontmatter("requires:\n  mcp:\n    - permissions:\n        - |")],
  "resources of the index": ["agents.md", inFrontmatter("requires:\n  capabilities:\n    - resource: |"), ["aws", "codebase"], "x-", inFrontmatter("requires:\n  capabilities:\n    - resource: x-audiences|")],
  "what may be forbidden": ["agents.md", inFrontmatter("constraints:\n  actions:\n    forbid:\n      - |"), ["read:reports", "read:audiences", "write:audiences", "read:x-audiences", "list"], "lis", inFrontmatter("constraints:\n  actions:\n    forbid:\n      - list|")],
  "servers for a health snapshot": ["health.yaml", "|", ["acme", "other"], "o", "other: |"],
  "classes for priorities": ["tenant.yaml", "tenants:\n  - id: x\n    priorities:\n      classes:\n        |", ["paid"], "", "tenants:\n  - id: x\n    priorities:\n      classes:\n        paid: |"],
  "tools of a connector": ["plan.json", plan('{"connector_id": "core", "tool_id": |}'), ["keep"], "", plan('{"connector_id": "core", "tool_id": "keep"|}')],
  "earlier steps, the nearest first": ["plan.json", plan(`${LIST}, ${KEEP}, {"input_from": {"step": |}}, ${LIST}`), ["two", "one"], "", plan(`${LIST}, ${KEEP}, {"input_from": {"step": "two"|}}, ${LIST}`)],
  "pointers into an output": ["plan.json", plan(`${LIST}, {"input_from": {"step": "one", "pointer": "|"}}`), ['""', "/a~1b", "/a~1b/0", "/a~1b/0/id", "/a~1b/0/next"], "/a~1b/0/i", plan(`${LIST}, {"input_from": {"step": "one", "pointer": "/a~1b/0/id"|}}`)],
  "pointers into what a step passes on": ["plan.json", plan(`${LIST}, ${KEEP}, {"input_from": {"step": "two", "pointer": "|"}}`), ['""', "/0", "/0/id"], "/0/i", plan(`${LIST}, ${KEEP}, {"input_from": {"step": "two", "pointer": "/0/id"|}}`)],
  "what a tool takes": ["plan.json", plan('{"connector_id": "mcp", "tool_id": "list", "input": {|}}'), ["limit"], "", plan('{"connector_id": "mcp", "tool_id": "list", "input": {"limit": |}}')],
  "schemas of the pool": ["plan.json", plan('{"output_schema_ref": |}'), ["urn:x:y"], "", plan('{"output_schema_ref": "urn:x:y"|}')],
  "tools of a bound server": ["tool-pool.json", '{"bindings": [{"driver_kind": "mcp_proxy", "server": "acme", "tool": |}]}', ["list"], "", '{"bindings": [{"driver_kind": "mcp_proxy", "server": "acme", "tool": "list"|}]}'],
  "selectors of rules": ["profile.json", '{"rules": [{"target": {"selector": |}}]}', ["mcp/list", "core/keep", "*"], "c", '{"rules": [{"target": {"selector": "core/keep"|}}]}'],
  "arguments of a call": ["call.json", '{"server": "acme", "tool": "list", "args": {|}}', ["limit"], "", '{"server": "acme", "tool": "list", "args": {"limit": |}}'],
};

for (const [name, [label, text, first, typed, result]] of Object.entries({ ...COMPLETIONS, ...NAMES })) {
  const language = label.endsWith(".md") ? "agents.md" : label.endsWith(".yaml") ? "yaml or json" : "json";
  const texts = name in NAMES ? TEXTS : {};
  inPage(`completion offers ${name}`, { label, language, texts }, async (page) => {
    await at(page, text);
    assert.deepEqual((await offered(page)).slice(0, first.length), first);
    assert.equal(await taken(page, typed), result);
  });
}

inPage("a long text of another document is read on request only, and not again", { label: "agents.md" }, async (page) => {
  await page.evaluate(() => {
    const { parse } = JSON;
    window.parsed = 0;
    JSON.parse = (text, ...more) => {
      if (text.length > 300_000) window.parsed++;
      return parse(text, ...more);
    };
    const servers = Array.from({ length: 20_000 }, (_, number) => ({ id: `s${number}`, categories: ["audiences"], scopes: ["read:x"], endpoint: "x".repeat(150) }));
    window.index = JSON.stringify({ servers });
    window.editor.destroy();
    const options = { language: "agents.md", label: "agents.md", readOnly: false, textOf: () => window.index };
    window.editor = new window.Editor(document.querySelector("#parent"), options, () => {});
  });
  await at(page, inFrontmatter("requires:\n  mcp:\n    - category: |"));
  await page.keyboard.type("aud", { delay: 50 });
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => window.parsed), 0);
  assert.deepEqual(await offered(page), ["audiences"]);
  await page.keyboard.press("Escape");
  assert.deepEqual(await offered(page), ["audiences"]);
  assert.equal(await page.evaluate(() => window.parsed), 1);
});

inPage("completion closes with Escape, and Tab still leaves the editor", { label: "agents.md" }, async (page) => {
  await at(page, inFrontmatter("|"));
  await offered(page);
  assert.equal(await page.locator(".cm-content").getAttribute("aria-autocomplete"), "list");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".cm-tooltip-autocomplete").count(), 0);
  await offered(page);
  await page.keyboard.press("Tab");
  assert.equal(await focusedId(page), "after");
  assert.equal(await getText(page), inFrontmatter(""));
});

for (const scheme of ["light", "dark"]) {
  inPage(`no accessibility problem with completions or fixes open, ${scheme}`, { label: "agents.md" }, async (page) => {
    await page.evaluate((name) => document.documentElement.classList.toggle("dark", name === "dark"), scheme);
    const check = async (what) => {
      if (process.env.EDITOR_SCREENSHOTS) await page.screenshot({ path: `${process.env.EDITOR_SCREENSHOTS}/${what}-${scheme}.png` });
      await page.evaluate(`${axe.source}; 0`);
      const { violations } = await page.evaluate(() => window.axe.run());
      assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), [], what);
    };
    await at(page, inFrontmatter("name: x\n|"));
    await offered(page);
    const info = page.locator(".cm-completionInfo");
    await info.waitFor();
    const { x, y } = await info.evaluate((box) => box.getBoundingClientRect());
    assert.ok(await page.evaluate(([left, top]) => document.elementFromPoint(left + 5, top + 5).closest(".cm-completionInfo"), [x, y]) !== null);
    await check("completions");
    await page.keyboard.press("Escape");
    await setText(page, MANIFEST);
    await page.evaluate((problem) => window.editor.setDiagnostics([problem]), FIXED);
    await page.keyboard.press("F8");
    await page.locator(".cm-diagnosticAction").first().waitFor();
    await check("problem");
    await page.keyboard.press("Control+.");
    await page.locator(".cm-tooltip-autocomplete li").first().waitFor();
    await check("fixes");
  });
}

inPage("Enter behind a whole value ends the line", { label: "agents.md" }, async (page) => {
  await at(page, inFrontmatter("constraints:\n  data:\n    sensitivity: |"));
  await offered(page);
  await page.keyboard.type("internal");
  assert.equal(await taken(page), inFrontmatter("constraints:\n  data:\n    sensitivity: internal\n    |"));
});

inPage("hover explains a key and a closed value", { label: "agents.md" }, async (page) => {
  await at(page, inFrontmatter("constraints:\n  data:\n    sensitivity: internal|"));
  await offered(page);
  await page.keyboard.press("Escape");
  const told = page.locator(".cm-explanation");
  await page.locator(".cm-line span", { hasText: "sensitivity" }).hover();
  await told.filter({ hasText: "sensitivity: The highest sensitivity of the agent's data" }).waitFor();
  assert.match(await told.innerText(), /One of public, internal, confidential/);
  await page.locator("#before").hover();
  await told.waitFor({ state: "detached" });
  const { left, bottom } = await page.evaluate(() => {
    const { view } = document.querySelector(".cm-content").cmTile.root;
    const { left, bottom } = view.coordsAtPos(view.state.doc.toString().indexOf("internal"));
    return { left, bottom };
  });
  await page.mouse.move(left + 10, bottom - 5);
  await told.filter({ hasText: "internal: " }).waitFor();
});

inPage("a problem has its reason, its other places and its fixes, and leads to its code", { label: "agents.md" }, async (page) => {
  await setText(page, MANIFEST);
  await page.evaluate((problem) => window.editor.setDiagnostics([problem]), FIXED);
  await page.locator(".cm-lintRange-error").first().hover();
  const told = page.locator(".cm-tooltip .cm-diagnostic");
  await told.waitFor();
  const text = await told.innerText();
  for (const part of ["no server is eligible for reporting: asked for here", "mcp.index.json:4:2 offered here"]) assert.ok(text.includes(part), text);
  assert.deepEqual(await told.locator("button").allInnerTexts(), ["Change reporting to reports", "Remove it (changes what is asked for or allowed)"]);
  await told.locator("a").click();
  await told.locator("button").nth(1).click();
  assert.deepEqual(await page.evaluate(() => window.done), ["code of 3", "fix 1 of 3"]);
});

inPage("fixes are chosen by keyboard, at the cursor or on its line", { label: "agents.md" }, async (page) => {
  await setText(page, MANIFEST);
  await page.evaluate((problem) => {
    window.editor.setDiagnostics([problem]);
    window.editor.reveal({ line: 7, column: 1 }, { line: 7, column: 1 }, true);
  }, FIXED);
  await page.keyboard.press("Control+.");
  const list = page.locator(".cm-tooltip-autocomplete");
  await list.waitFor();
  assert.deepEqual(await list.locator("li").allInnerTexts(), ["Change reporting to reports", "Remove it (changes what is asked for or allowed)"]);
  await page.waitForTimeout(300);
  await page.keyboard.press("Enter");
  await list.waitFor({ state: "detached" });
  assert.deepEqual(await page.evaluate(() => window.done), ["fix 0 of 3"]);
  assert.equal(await getText(page), MANIFEST);
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Control+.");
  await page.getByText("No fix here can be applied").waitFor({ state: "attached" });
});

inPage("destroy leaves nothing", {}, async (page) => {
  await page.evaluate(() => window.editor.destroy());
  assert.equal(await page.evaluate(() => document.querySelector("#parent").childNodes.length), 0);
});

/** Texts that are large or hostile; built in the page, so that they need not be sent there. */
const LARGE = {
  "5 MB of JSON": ["json", "json(5e6)"],
  "20 MB of JSON": ["json", "json(2e7)"],
  "5 MB of manifest": ["agents.md", "'---\\nitems:\\n' + '  - category: x\\n    permissions: [a, \"b\"]\\n'.repeat(1.2e5)"],
  "2 million [": ["json", "'['.repeat(2e6)"],
  "2 million [ in a frontmatter": ["agents.md", "'---\\na: ' + '['.repeat(2e6)"],
  "200,000 nested lines": ["json", "'[\\n'.repeat(2e5)"],
  "one line of 20 MB": ["json", "'x'.repeat(2e7)"],
  "100,000 empty lines": ["agents.md", "'\\n'.repeat(1e5)"],
  "a million directional characters": ["json", "'\\u202e\\u2066\\u05d0b\\u2069a'.repeat(2e5)"],
};

for (const [name, [language, source]] of Object.entries(LARGE)) {
  inPage(`${name} loads and can be edited`, { language }, async (page, t) => {
    const loaded = await page.evaluate(async (code) => {
      const json = (units) => {
        const items = [];
        for (let i = 0, length = 0; length < units; i++) {
          items.push(`  {\n    "name": "server-${i}",\n    "scopes": ["read:x", "write:y"],\n    "signed": true\n  }`);
          length += items.at(-1).length + 2;
        }
        return `[\n${items.join(",\n")}\n]\n`;
      };
      // As it comes from WebAssembly: in one piece, not as a tree of concatenations.
      window.source = new TextDecoder().decode(new TextEncoder().encode(new Function("json", `return ${code}`)(json)));
      await new Promise((resolve) => setTimeout(resolve, 100));
      window.longTasks.length = 0;
      const start = performance.now();
      window.editor.setText(window.source);
      const ms = performance.now() - start;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { ms: Math.round(ms), tasks: window.longTasks.splice(0) };
    }, source);

    await page.evaluate(() => window.editor.focus());
    await page.keyboard.type('a["x\n');
    await page.keyboard.press("Control+End");
    await page.keyboard.type('"]}');
    await page.evaluate(() => {
      const middle = { line: 50_000, column: 500_000 };
      window.editor.setDiagnostics([{ start: middle, end: middle, severity: "error", code: "X", message: "x", help: [] }]);
      window.editor.reveal(middle, middle, true);
    });
    await page.keyboard.type("y");
    await page.keyboard.press("ArrowLeft");
    const typing = await page.evaluate(() => new Promise((resolve) => setTimeout(() => resolve(window.longTasks.splice(0)), 100)));

    const { cached, same } = await page.evaluate(() => {
      while (window.editor.undo());
      window.editor.applyEdits([{ start: { line: 1, column: 1 }, end: { line: 1, column: 1 }, insert: "z" }]);
      const start = performance.now();
      const text = window.editor.text();
      text.charCodeAt(text.length >> 1);
      const cached = performance.now() - start;
      return { cached, same: text === `z${window.source}` };
    });
    assert.ok(same);
    t.diagnostic(`setText ${loaded.ms} ms, then long tasks [${loaded.tasks}]; typing [${typing}]; text() ${cached.toFixed(1)} ms`);
    const busy = await slowdown(page);
    assert.ok(Math.max(0, ...loaded.tasks) < LOADING_MAX_TASK_MS * busy);
    assert.ok(Math.max(0, ...typing) < TYPING_MAX_TASK_MS * busy);
  });
}

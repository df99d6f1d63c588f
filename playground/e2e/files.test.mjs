import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { INDEX, MANIFEST } from "./hello.mjs";
import { visit } from "./visit.mjs";

const OTHER = MANIFEST.replace("hello-agent", "other-agent");

/**
 * @param {import("playwright-core").Page} page
 * @param {{ name: string, text?: string, bytes?: number[] }[]} files
 */
function drop(page, files) {
  return page.evaluate((given) => {
    const dataTransfer = new DataTransfer();
    for (const { name, text, bytes } of given) dataTransfer.items.add(new File([text ?? new Uint8Array(bytes)], name));
    const target = document.querySelector("#servers .answer");
    for (const type of ["dragenter", "dragover", "drop"]) {
      const event = new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true });
      const taken = !target.dispatchEvent(event);
      if (type !== "dragenter" && !taken) throw new Error(`the browser would open the file itself: ${type}`);
    }
  }, files);
}

visit("dropped files go to the documents of their names, and can be undone", async ({ playground, page }) => {
  await drop(page, [
    { name: "agents.md", text: OTHER },
    { name: "mcp.index.json", text: '{"servers": []}\r\n' },
  ]);
  await playground.noticeIs("Opened agents.md, mcp.index.json");
  await playground.says("Not every requirement has a server");
  assert.equal(await playground.text("agents.md"), OTHER);
  assert.equal(await playground.text("mcp.index.json"), '{"servers": []}\n');

  await playground.notice.getByRole("button", { name: "Undo" }).click();
  await playground.says("Every requirement has a server");
  assert.equal(await playground.text("agents.md"), MANIFEST);
  assert.equal(await playground.text("mcp.index.json"), INDEX);
});

visit("files are picked, and the same one twice", async ({ playground, page }) => {
  for (const name of ["first-agent", "second-agent"]) {
    const coming = page.waitForEvent("filechooser");
    await playground.press("Open…");
    const chooser = await coming;
    assert.ok(chooser.isMultiple());
    await chooser.setFiles({ name: "AGENTS.MD", mimeType: "text/markdown", buffer: Buffer.from(MANIFEST.replace("hello-agent", name)) });
    await page.locator(".facts", { hasText: `${name} 1.0.0` }).waitFor();
  }
});

visit("a lock goes into the editor for locks", async ({ playground, page }) => {
  await drop(page, [{ name: "agents.lock", text: "{}" }]);
  await playground.input("agents.lock").waitFor();
  assert.equal(await playground.text("agents.lock"), "{}");
});

visit("a binary file is not taken as text", async ({ playground, page }) => {
  await drop(page, [{ name: "agents.md", text: "\u{0}PNG" }, { name: "mcp.index.json", bytes: [0xff, 0xfe, 0x7b] }]);
  await playground.noticeIs("Not opened: agents.md: no text; mcp.index.json: no text in UTF-8");
  assert.equal(await playground.text("agents.md"), MANIFEST);
  assert.equal(await playground.text("mcp.index.json"), INDEX);
});

visit("a file with another name is refused, and the others are taken", async ({ playground, page }) => {
  await drop(page, [{ name: "holiday.png", text: "x" }, { name: "agents.md", text: OTHER }]);
  await playground.noticeIs("Not opened: holiday.png");
  assert.equal(await playground.text("agents.md"), OTHER);
});

visit("all documents that have a text are one archive, which tar unpacks", async ({ playground, page }) => {
  const umlauts = MANIFEST.replace("hello-agent", "hello-agent # é𝄞");
  await playground.paste("agents.md", umlauts);
  const download = page.waitForEvent("download");
  await playground.press("Download all");
  const file = await download;
  assert.equal(file.suggestedFilename(), "agent-documents.tar");
  const folder = await mkdtemp(path.join(os.tmpdir(), "archive-"));
  const tar = path.join(folder, "all.tar");
  await file.saveAs(tar);
  const { stdout } = await promisify(execFile)("tar", ["-xvf", tar, "-C", folder]);
  assert.deepEqual(stdout.trim().split("\n").sort(), ["agents.md", "mcp.index.json"]);
  assert.equal(await readFile(path.join(folder, "agents.md"), "utf8"), umlauts);
  assert.equal(await readFile(path.join(folder, "mcp.index.json"), "utf8"), INDEX);
});

// The index page of the app gateway, as a person uses it: with real tasks, in a headless Chromium.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { launch } from "../../../../playground/chromium.mjs";

const axe = createRequire(new URL("../../../../playground/package.json", import.meta.url))("axe-core");

/** The program, which `cargo xtask test` has built. */
const AGENT = process.env.AGENT ?? assert.fail("AGENT is not the path of the program");

/** Where pictures of the page go, if anywhere. */
const PICTURES = process.env.PICTURES;

const WIDTHS = [1280, 390];
const SCHEMES = /** @type {const} */ (["light", "dark"]);

/** The ratio of contrast that text needs by WCAG 2.2, AAA: a page of text has no reason for less. */
const CONTRAST = 7;

/** A prompt that is long, and has markup in it. */
const LONG = `A web service that responds 'second' and <b>keeps</b> ${"a very long description ".repeat(12)}${"x".repeat(120)}`;

let folder, daemon, browser, gateway, ids;

/** @param {string[]} args @returns {Promise<string>} what the program prints */
async function app(...args) {
  const { stdout } = await promisify(execFile)(AGENT, ["app", ...args], { cwd: folder });
  return stdout.trim();
}

/** Calls a verb of the daemon. */
async function verb(name, task_id, input) {
  const { address } = JSON.parse(await readFile(path.join(folder, ".mcpd/.state/daemon.json"), "utf8"));
  const token = (await readFile(path.join(folder, ".mcpd/.state/token"), "utf8")).trim();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({ task_id, input });
  return (await fetch(`http://${address}/verbs/${name}`, { method: "POST", headers, body })).json();
}

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "index-page-"));
  browser = await launch();
  daemon = spawn(AGENT, ["mcpd", "--port", "0"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  daemon.stderr.setEncoding("utf8");
  let log = "";
  for await (const text of daemon.stderr) {
    log += text;
    if (log.includes("mcpd serves")) break;
  }
  gateway = /apps are at (\S+)/.exec(log)?.[1] ?? assert.fail(log);
  const page = await browser.newPage();
  await page.goto(gateway);
  await page.getByText("No task yet").waitFor();
  await page.close();

  const id = (url) => url.split("/").at(-2);
  const ready = id(await app("run", "Create a web service that responds 'Hello, World!'"));
  const ended = id(await app("run", LONG));
  await app("kill", ended);
  const plan = await verb("plan.create", undefined, { prompt: "It fails" + " hello" });
  const failed = plan.data.task_id;
  const source = "import sys\nprint('no configuration')\nsys.exit(3)\n";
  await verb("fs.apply", failed, { writes: [{ path: "app.py", content: source }] });
  await verb("run.start", failed, { cmd: "python app.py" });
  const planned = (await verb("plan.create", undefined, { prompt: "hello again" })).data.task_id;
  ids = { ready, ended, failed, planned };
});

after(async () => {
  if (ids) await app("kill", ids.ready);
  await browser?.close();
  if (daemon) {
    daemon.kill();
    await once(daemon, "exit");
  }
  await rm(folder, { recursive: true, force: true });
});

/** Opens the page, and closes it after `body`. Complaints like `expected` belong to the test. */
async function visit(body, options = {}, expected = /^$/) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const complaints = [];
  context.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  context.on("request", (request) => request.url().startsWith(gateway) || complaints.push(request.url()));
  const page = await context.newPage();
  await page.goto(gateway);
  try {
    await body(page);
    assert.deepEqual(complaints.filter((text) => !expected.test(text)), [], "the page complains");
  } finally {
    await context.close();
  }
}

/** @returns the row of a task */
const row = (page, id) => page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: id }) });

test("it names the project and the tasks, with status, log and probes", () => visit(async (page) => {
  assert.equal(await page.title(), "AssertLang");
  await page.getByRole("heading", { level: 1, name: "AssertLang" }).waitFor();
  await page.getByText("One port, five verbs, infinite software.").waitFor();
  const columns = await page.getByRole("columnheader").allInnerTexts();
  assert.deepEqual(columns, ["Task", "What it does", "Status", "Probes", "Files"]);
  const expected = {
    [ids.ready]: ["responds 'Hello, World!'", "python", "ready", "1 of 1 passed"],
    [ids.ended]: ["<b>keeps</b>", "ended: it was ended by its user", "1 of 1 passed"],
    [ids.failed]: ["failed: the app exited with code 3", "none"],
    [ids.planned]: ["planned", "none"],
  };
  for (const [id, texts] of Object.entries(expected)) {
    for (const text of texts) await row(page, id).getByText(text).first().waitFor();
    for (const name of [`log of ${id}`, `probes of ${id}`]) await page.getByRole("link", { name }).waitFor();
  }
  // Only an app that runs can be opened.
  const apps = await page.getByRole("rowheader").getByRole("link").allInnerTexts();
  assert.deepEqual(apps, [ids.ready]);
}));

test("a click opens an app, its log and its probes, and the way back", () => visit(async (page) => {
  await page.getByRole("link", { name: `log of ${ids.failed}` }).click();
  await page.getByRole("heading", { name: "run.log" }).waitFor();
  await page.getByText("no configuration").waitFor();
  await page.getByRole("link", { name: "All tasks" }).click();
  await page.getByRole("link", { name: `probes of ${ids.ready}` }).click();
  await page.getByText('"path":"/"').waitFor();
  await page.goBack();
  await page.getByRole("link", { name: `probes of ${ids.planned}` }).click();
  await page.getByText("Nothing yet").waitFor();
  await page.getByRole("link", { name: "All tasks" }).click();
  await page.getByRole("rowheader").getByRole("link", { name: ids.ready }).click();
  await page.getByText("Hello, World!").waitFor();
  // What has ended says so.
  await page.goto(`${gateway}apps/${ids.ended}/`);
  await page.getByRole("heading", { name: "Gone" }).waitFor();
  await page.getByRole("link", { name: "All tasks" }).click();
  await page.getByRole("heading", { name: "AssertLang" }).waitFor();
  // The browser itself complains of that page, and of an icon that an app does not have.
}, {}, /(410 \(Gone\)|404 \(Not Found\))$/));

test("the keyboard reaches every link in order, and shows where it is", () => visit(async (page) => {
  const links = await page.getByRole("link").evaluateAll((all) => all.map((it) => it.getAttribute("href")));
  assert.equal(links.length, 4 * 2 + 1);
  for (const link of links) {
    await page.keyboard.press("Tab");
    const focused = await page.locator(":focus").evaluate((it) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(it);
      return { href: it.getAttribute("href"), outlineStyle, width: Number.parseFloat(outlineWidth) };
    });
    assert.equal(focused.href, link);
    assert.notEqual(focused.outlineStyle, "none", link);
    assert.ok(focused.width >= 2, link);
  }
  await page.getByRole("link", { name: `log of ${ids.failed}` }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("no configuration").waitFor();
  // The test looks at what has the keyboard by a script.
}, { bypassCSP: true }));

for (const colorScheme of SCHEMES) {
  for (const width of WIDTHS) {
    test(`${colorScheme}, ${width} pixels: it fits, and can be read`, () => visit(async (page) => {
      for (const at of ["", `tasks/${ids.failed}/log`, "nowhere"]) {
        await page.goto(gateway + at);
        await page.waitForLoadState("networkidle");
        if (PICTURES) {
          await mkdir(PICTURES, { recursive: true });
          const name = `${at.split("/").at(-1) || "index"}-${colorScheme}-${width}.png`;
          await page.screenshot({ path: path.join(PICTURES, name), fullPage: true });
        }
        const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(sideways <= 0, `/${at} scrolls sideways by ${sideways} pixels`);
        await page.evaluate(axe.source);
        const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations", "passes"] }));
        const told = found.violations.flatMap((it) => it.nodes.map((node) => `${it.id} ${node.target} ${node.any[0]?.message ?? ""}`));
        assert.deepEqual(told, [], `/${at}`);
        const contrasts = found.passes.filter((it) => it.id === "color-contrast").flatMap((it) => it.nodes);
        assert.ok(contrasts.length > 0, "contrast was checked");
        for (const node of contrasts) {
          const { contrastRatio } = node.any[0].data;
          assert.ok(contrastRatio >= CONTRAST, `/${at}: ${node.target} has a contrast of ${contrastRatio}`);
        }
      }
      // A finger hits each link.
      await page.goto(gateway);
      for (const link of await page.getByRole("link").all()) {
        const { width, height } = await link.boundingBox();
        assert.ok(Math.min(width, height) >= 24, `${await link.getAttribute("href")} is ${width} × ${height}`);
      }
      // axe runs as a script of the page.
    }, { colorScheme, viewport: { width, height: 844 }, bypassCSP: true }, /404 \(Not Found\)/));
  }
}

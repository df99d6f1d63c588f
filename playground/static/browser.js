// What the browser can do that takes less to say in JavaScript than through bindings.

/** Text to base64url of its DEFLATE form. */
export async function compress(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * The reverse, or undefined of what is no such form; throws when the text would pass `limit` bytes,
 * so that no link fills the memory.
 */
export async function decompress(packed, limit) {
  try {
    const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
    return await inflate(bytes, limit);
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return undefined;
  }
}

async function inflate(bytes, limit) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.length;
    if (length > limit) {
      await reader.cancel();
      throw new RangeError(`it holds more than ${limit} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Whether a node is an element or inside of it. */
export function hasInside(element, node) {
  return element.contains(node);
}

/** Hands texts that are not blank to the person as one archive, or else, without a network, file by file. */
export async function downloadAll(name, texts) {
  const filled = Object.entries(texts).filter(([, text]) => text.trim() !== "");
  try {
    const { archive } = await import("./archive.js");
    download(name, archive(filled));
  } catch {
    for (const [file, text] of filled) download(file, text);
  }
}

/** Hands a text, or bytes, to the person as a file. */
export function download(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  link.download = name;
  link.click();
  // The browser reads it after this call.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Whether the text is in the clipboard now. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** The files of a file input or of a drop: `[{ name, text, refusal }]`; only one of both is there. */
export async function readFiles(files, limit) {
  return Promise.all(
    [...files].map(async (file) => {
      const { name, size } = file;
      if (size > limit) return { name, refusal: `more than ${limit >> 20} MB` };
      try {
        const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
        if (!text.includes("\0")) return { name, text };
        return { name, refusal: "no text" };
      } catch (error) {
        return { name, refusal: error instanceof TypeError ? "no text in UTF-8" : error.message };
      }
    }),
  );
}

/** Whether another page shows a part of this one. Such a part keeps nothing, and does not see what is kept. */
const isEmbedded = new URLSearchParams(location.search).has("embed");

const nothing = { getItem: () => null, setItem() {}, removeItem() {} };

/** The storage that outlives a tab. */
const lasting = () => (isEmbedded ? nothing : localStorage);

/** The storage of a tab. */
const ofTab = () => (isEmbedded ? nothing : sessionStorage);

/** Why a value is not kept, or undefined if it is. */
export function store(key, value) {
  try {
    lasting().setItem(key, value);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** @param {DOMException} error of storage */
function reasonOf({ name }) {
  return name === "QuotaExceededError" ? "the storage of the browser is full" : "the browser forbids storage here";
}

/** The database of inputs that are too large for the storage above. */
let database;

async function inDatabase(mode, act) {
  database ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("agent-playground");
    request.onupgradeneeded = () => request.result.createObjectStore("inputs");
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  try {
    const transaction = (await database).transaction("inputs", mode);
    const { result } = await new Promise((resolve, reject) => {
      const request = act(transaction.objectStore("inputs"));
      transaction.oncomplete = () => resolve(request);
      transaction.onabort = () => reject(transaction.error);
    });
    return result;
  } catch (error) {
    database = undefined;
    throw error;
  }
}

/** Why an object of texts is not kept, or undefined if it is. It replaces a value of the same key. */
export async function storeLarge(key, texts) {
  if (isEmbedded) return undefined;
  try {
    await inDatabase("readwrite", (inputs) => inputs.put(texts, key));
    localStorage.removeItem(key);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

/** The entries of an object that was kept, or undefined. */
export async function loadLarge(key) {
  const texts = await inDatabase("readonly", (inputs) => inputs.get(key)).catch(() => undefined);
  return texts && Object.entries(texts);
}

/** Forgets an object that was kept. */
export function forgetLarge(key) {
  inDatabase("readwrite", (inputs) => inputs.delete(key)).catch(() => {
    // Then nothing was kept.
  });
}

/** A value that was kept, or undefined. */
export function load(key) {
  try {
    return lasting().getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Forgets a value. */
export function forget(key) {
  try {
    lasting().removeItem(key);
  } catch {
    // Then nothing was kept.
  }
}

/** Keeps a value for this tab, as long as it is open. */
export function storeInTab(key, value) {
  try {
    ofTab().setItem(key, value);
  } catch {
    // Then a reload counts as another tab.
  }
}

/** A value that was kept for this tab, or undefined. */
export function loadFromTab(key) {
  try {
    return ofTab().getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether only this tab has a name, from now until it is closed. A tab that was duplicated has the
 * stored values of the first.
 * @param {number} patience in milliseconds
 */
export function claim(name, patience) {
  const { locks } = navigator;
  if (!locks) return Promise.resolve(true);
  const options = patience > 0 ? { signal: AbortSignal.timeout(patience) } : { ifAvailable: true };
  return new Promise((resolve) => {
    const hold = (lock) => {
      resolve(lock !== null);
      return lock && new Promise(() => {});
    };
    locks.request(name, options, hold).catch(() => resolve(false));
  });
}

/** A name that nothing else has. */
export function newId() {
  return Date.now().toString(36) + Math.random().toString(36).slice(2);
}

/** A time as the person writes it. */
export function dateAndTime(milliseconds) {
  return new Date(milliseconds).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** What the address has behind the path: empty, or "#" and more. */
export function hash() {
  return location.hash;
}

/** Goes to another hash, as a new entry of the history. */
export function setHash(hash) {
  location.hash = hash;
}

/** Shows another hash, or none, for the same place in the history. If the browser forbids it, the old one stays. */
export function replaceHash(hash) {
  try {
    history.replaceState(null, "", location.pathname + location.search + (hash === "#" ? "" : hash));
  } catch {
    // It is only an address.
  }
}

/** What the address says behind `?` of a name, or nothing. */
export function parameter(name) {
  return new URLSearchParams(location.search).get(name) ?? "";
}

/** The address of the page, without a hash. */
export function address() {
  return location.origin + location.pathname;
}

/** Moves the keyboard to the element of an id, where it can have it. */
export function focus(id) {
  document.getElementById(id)?.focus();
}

/** Whether a panel is beside an element and not over it. The element then stays in sight. */
export function isBeside(panel, element) {
  const beside = element.isConnected && getComputedStyle(panel).position !== "absolute";
  if (beside) element.scrollIntoView({ block: "nearest", inline: "nearest" });
  return beside;
}

/** The value of the field that an event is about. */
export function valueOf(event) {
  return event.target.value;
}

/** The module that asks the importer, loaded with the first document. */
let importer;

export async function askImporter(texts) {
  importer ??= import("./importer.js");
  try {
    return (await importer).ask(texts);
  } catch {
    importer = undefined;
  }
}

export function endImporter() {
  importer?.then(({ end }) => end(), () => {});
}

/** Hands the person a file that is made of an explanation. */
export async function exportFile(name, ...given) {
  const { write } = await import("./exports.js");
  download(name, write(name, ...given));
}

/** Files of JSON that were asked for, by their names. */
const loaded = new Map();

/** A member of a file of JSON, or undefined if it can't be had now. The file is loaded with its first member. */
async function member(file, name) {
  if (!loaded.has(file)) loaded.set(file, fetch(file).then((response) => response.json()));
  try {
    return (await loaded.get(file))[name];
  } catch {
    loaded.delete(file);
    return undefined;
  }
}

/** The page about a code, as Markdown, or undefined if it can't be had now. */
export function codePage(name) {
  return member("./codes.json", name);
}

/** The texts of an example by the names of its files, as JSON, or undefined if they can't be had now. */
export async function exampleFiles(folder) {
  return JSON.stringify(await member("./examples.json", folder));
}

/** Gives the part before a bar its share of both parts, in percent. */
export function share(bar, axis, percent) {
  const { style } = bar.parentElement;
  style.setProperty(`--${axis}-first`, `${percent}fr`);
  style.setProperty(`--${axis}-second`, `${100 - percent}fr`);
}

/** The share that the part before a bar has, in percent, when the bar is at a place of the window, or where it is. */
export function shareAt(bar, rows, at) {
  const first = bar.previousElementSibling.getBoundingClientRect();
  const second = bar.nextElementSibling.getBoundingClientRect();
  const [start, end] = rows ? [first.top, second.bottom] : [first.left, second.right];
  const place = at ?? (rows ? first.bottom : first.right);
  return Math.max(0, Math.round((100 * (place - start)) / (end - start)));
}

/** The key under which the browser keeps whether long lines are broken. */
const WRAPPING = "agent-playground/wrapping";

/** What the person chose: "yes" or "no", or undefined. */
let wraps = load(WRAPPING);

/** The width of an editor with 80 columns, in pixels. */
const ROOM = 670;

/** Whether editors break long lines: as the person chose, or where there is little room; else undefined. */
export function wrapping() {
  if (wraps !== undefined) return wraps === "yes";
  // The inputs of a hidden page have no width.
  const widths = [...document.querySelectorAll(".inputs")].map((it) => it.clientWidth);
  return (Math.max(...widths) || innerWidth) < ROOM || undefined;
}

/** Breaks long lines in all editors, or not. They listen to the event. */
export function setWrapping(on) {
  wraps = on ? "yes" : "no";
  store(WRAPPING, wraps);
  dispatchEvent(new Event("wrapping"));
}

/** The theme of the page, or undefined. */
export function theme() {
  return document.documentElement.dataset.theme;
}

/** Shows the page in a theme. The style sheet knows the names. */
export function showTheme(name) {
  document.documentElement.dataset.theme = name;
}

/** The ground of the tab's icon and the lines on it, by the mark of the answer. */
const ICONS = {
  "✓": ["#1d7a46", "m18 34 10 10 18-22"],
  "✗": ["#b3261e", "m20 20 24 24m0-24L20 44"],
  "!": ["#9a6700", "M32 16v20m0 10v2"],
};

/** Shows a title for the tab, and an icon for the mark of an answer. */
export function showTitle(mark, title) {
  document.title = title;
  const [ground, lines] = ICONS[mark] ?? [];
  const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="${ground}"/><path d="${lines}" fill="none" stroke="#fff" stroke-width="8" stroke-linecap="round"/></svg>`;
  document.querySelector("link[rel=icon]").href = ground ? `data:image/svg+xml,${encodeURIComponent(icon)}` : "./icon.svg";
}

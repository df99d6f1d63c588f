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

/** The reverse; throws when the text would pass `limit` bytes, so that no link fills the memory. */
export async function decompress(packed, limit) {
  const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
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
      throw new Error(`it holds more than ${limit} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Hands a text to the person as a file. */
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

/** The files of a file input or of a drop: `[{ name, text }]`; one past `limit` bytes has no text. */
export async function readFiles(files, limit) {
  return Promise.all(
    [...files].map(async (file) => ({
      name: file.name,
      text: file.size > limit ? undefined : await file.text(),
    })),
  );
}

/** Whether the value is kept; storage may be full or forbidden. */
export function store(key, value) {
  try {
    localStorage.setItem(key, value);
    return true;
  } catch {
    return false;
  }
}

/** A value that was kept, or undefined. */
export function load(key) {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Forgets a value. */
export function forget(key) {
  try {
    localStorage.removeItem(key);
  } catch {
    // Then nothing was kept.
  }
}

/** What the address has behind the path: empty, or "#" and more. */
export function hash() {
  return location.hash;
}

/** Goes to another hash, as a new entry of the history. */
export function setHash(hash) {
  location.hash = hash;
}

/** Removes the hash from the address. If the browser forbids it, the next load has the hash again. */
export function forgetHash() {
  try {
    history.replaceState(null, "", location.pathname);
  } catch {
    // It is only an address.
  }
}

/** The address of the page, without a hash. */
export function address() {
  return location.origin + location.pathname;
}

/** Moves the keyboard to the element of an id, where it can have it. */
export function focus(id) {
  document.getElementById(id)?.focus();
}

/** The value of the field that an event is about. */
export function valueOf(event) {
  return event.target.value;
}

/** The theme of the page, or undefined. */
export function theme() {
  return document.documentElement.dataset.theme;
}

/** Shows the page in a theme. The style sheet knows the names. */
export function showTheme(name) {
  document.documentElement.dataset.theme = name;
}

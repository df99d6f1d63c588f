// Starts the page. A separate file, because the page's policy runs no inline script.
//
// The page has areas, which stand in the address behind `#`, and four modules, each of which is
// loaded when one of its areas is first seen. A module renders into the element of its name.

/** The modules of areas. All else is about servers. Inputs of a link follow behind a dot. */
const AREAS = {
  "#plans": "plans",
  "#call": "plans",
  "#grounding": "plans",
  "#session": "session",
  "#audit": "session",
  "#diff": "review",
};

const MODULES = {
  servers: () => {
    preload("./agent-playground_bg.wasm", "./editor/editor.js");
    return import("./agent-playground.js");
  },
  plans: () => later("plans", "agent-plans-page"),
  session: () => later("session", "agent-session-page"),
  review: () => later("review", "agent-review-page"),
};

/** Loads a module and its style sheet. */
async function later(name, module) {
  preload(`./${module}_bg.wasm`, "./editor/editor.js", `./${module}.js`);
  await style(`./${name}.css`);
  return import(`./${module}.js`);
}

/** Those that are there, or on their way. */
const started = new Map();

/** Those that render their part of the page, and those that say why they can't. */
const loaded = new Set();

/** What is seen until then. */
const shell = document.getElementById("shell");

/** The name of the module whose area stands in the address. */
function named() {
  return AREAS[location.hash.split(".")[0]] ?? "servers";
}

async function show() {
  const seen = named();
  if (!started.has(seen)) started.set(seen, start(seen));
  for (const name of Object.keys(MODULES)) document.getElementById(name).hidden = name !== seen;
  shell.hidden = loaded.has(seen);
  for (const link of shell.querySelectorAll("a")) {
    if (link.hash === location.hash.split(".")[0]) link.ariaCurrent = "page";
    else link.removeAttribute("aria-current");
  }
  await started.get(seen);
  // Another one may have been asked for since.
  shell.hidden = loaded.has(named());
}

/** @param {"servers" | "plans" | "session" | "review"} name */
async function start(name) {
  try {
    const { default: init } = await MODULES[name]();
    await init();
  } catch (error) {
    // The next time that it is to be seen is another try.
    started.delete(name);
    document.getElementById(name).replaceChildren(failure(error));
  } finally {
    loaded.add(name);
  }
}

/** What takes the place of a module that can't be loaded: the reason, and where to go from there. */
function failure(error) {
  const told = document.createElement("div");
  told.className = "failure";
  told.setAttribute("role", "alert");
  const reason = document.createElement("p");
  reason.textContent = `This part of the page can't be loaded: ${error.message}. Without a network it is there only after an earlier visit to it.`;
  const again = document.createElement("button");
  again.textContent = "Try again";
  again.onclick = show;
  told.append(reason, again);
  if (named() !== "servers") {
    const back = document.createElement("a");
    back.href = "#";
    back.textContent = "Back to servers";
    told.append(" ", back);
  }
  return told;
}

/** Begins to load files that a module asks for once it runs. */
function preload(...addresses) {
  for (const address of addresses) {
    const link = document.createElement("link");
    const isModule = address.endsWith(".js");
    link.rel = isModule ? "modulepreload" : "preload";
    if (!isModule) {
      link.as = "fetch";
      link.crossOrigin = "";
    }
    link.href = address;
    document.head.append(link);
  }
}

/** @param {string} address of a style sheet */
function style(address) {
  return new Promise((resolve, reject) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = address;
    link.onload = resolve;
    link.onerror = () => {
      link.remove();
      reject(new Error(`${address} is not there`));
    };
    document.head.append(link);
  });
}

// Where there is no service worker, as in development, the page works as long as it is served.
navigator.serviceWorker?.register("./sw.js").catch(() => {});

// `agent playground` puts a token there.
const [, token] = location.hash.split("#local.");
if (token) await (await import("./local.js")).open(token);

// So does a page that shows a part of this one.
const part = new URLSearchParams(location.search).get("embed");
if (part !== null) (await import("./embed.js")).embed(part);

addEventListener("hashchange", show);
await show();

// Starts the page. A file of its own, because the page's policy runs no inline script.
//
// The page has areas, which stand in the address behind `#`, and two modules, each of which is
// loaded when one of its areas is first seen. A module renders into the element of its name.

/** The areas of the module of plans. All else is about servers: links that hold inputs, too. */
const PLANS = ["#plans", "#call", "#grounding"];

const MODULES = {
  servers: () => import("./agent-playground.js"),
  plans: async () => {
    await style("./plans.css");
    return import("./agent-plans.js");
  },
};

/** Those that are there, or on their way. */
const started = new Map();

function show() {
  const seen = PLANS.includes(location.hash) ? "plans" : "servers";
  for (const name of Object.keys(MODULES)) document.getElementById(name).hidden = name !== seen;
  if (!started.has(seen)) started.set(seen, start(seen));
  return started.get(seen);
}

/** @param {"servers" | "plans"} name */
async function start(name) {
  try {
    const { default: init } = await MODULES[name]();
    await init();
  } catch (error) {
    // The next time that it is to be seen is another try.
    started.delete(name);
    const told = document.createElement("p");
    told.className = "failure";
    told.setAttribute("role", "alert");
    told.textContent = `This part of the page can't be loaded: ${error.message}`;
    document.getElementById(name).replaceChildren(told);
  }
}

/** @param {string} address of a style sheet */
function style(address) {
  return new Promise((resolve, reject) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = address;
    link.onload = resolve;
    link.onerror = () => reject(new Error(`${address} is missing`));
    document.head.append(link);
  });
}

// Where there is no service worker, as in development, the page works as long as it is served.
navigator.serviceWorker?.register("./sw.js").catch(() => {});

addEventListener("hashchange", show);
await show();

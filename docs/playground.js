// Shows answers of the playground in pages of the book, where it is served beside them, in the folder `playground`.

/** The example of each page about a code: a folder of `playground/examples`. */
const CODES = {
  DUPLICATE_SERVER: "travel-planner",
  FORBIDDEN_ACTION: "data-janitor",
  HEALTH_VETO: "domain-investigator",
  INTEGRITY_CHANGED: "stock-watcher",
  JSON_SYNTAX: "weather-brief",
  LOOKALIKE_ID: "invoice-checker",
  MISSING_CATEGORY: "support-desk",
  MISSING_FIELD: "expense-report",
  MISSING_SCOPE: "release-notes",
  MISSPELT_KEY: "newsletter",
  POLICY_DENIED: "paper-finder",
  RESIDENCY_MISMATCH: "payroll-helper",
  SCOPE_WIDENED: "crm-updater",
  SENSITIVITY_EXCEEDED: "patient-intake",
  SERVER_REMOVED: "press-review",
  UNSIGNED_NOT_ALLOWED: "deploy-bot",
  YAML_SYNTAX: "shop-assistant",
};

/** What other pages show: the name of each, without its folder. */
const PAGES = {
  tutorial: "embed=verdict&example=hello-agent",
  "tutorial-adopt": "embed=matrix&example=desk-assistant",
  "tutorial-serve": "embed=session",
};

/** @param {Record<string, string>} table @param {string} name @returns its own value of that name, if it has one */
const own = (table, name) => (Object.hasOwn(table, name) ? table[name] : undefined);

/** @param {URL} playground its address @param {string} page the address of the page */
async function show(playground, page) {
  const [, name] = /([^/]*?)(?:\.html)?$/.exec(page);
  const parameters = own(PAGES, name) ?? (own(CODES, name) && `embed=verdict&example=${CODES[name]}`);
  if (!parameters) return;
  const found = await fetch(playground, { method: "HEAD" }).catch(() => undefined);
  if (!found?.ok) return;
  const heading = document.createElement("h2");
  heading.textContent = "In the playground";
  const frame = document.createElement("iframe");
  frame.src = `${playground}?${parameters}`;
  frame.title = "The answer of the playground";
  frame.loading = "lazy";
  frame.width = "100%";
  frame.height = "480";
  frame.style.border = "1px solid";
  document.querySelector("main").append(heading, frame);
}

// The script is in the folder of the book.
show(new URL("playground/", document.currentScript.src), location.pathname);

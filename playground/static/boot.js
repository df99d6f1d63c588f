// Starts the page. A file of its own, because the page's policy runs no inline script.
import init from "./agent-playground.js";

// Where there is no service worker, as in development, the page works as long as it is served.
navigator.serviceWorker?.register("./sw.js").catch(() => {});

await init();

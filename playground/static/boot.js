// Starts the page. A file of its own, because the page's policy runs no inline script.
import init from "./agent-playground.js";

await init();

// Where the page is served for good there is a service worker, and with it the page works offline.
if ("serviceWorker" in navigator && document.documentElement.dataset.offline === "true") {
  navigator.serviceWorker.register("./sw.js");
}

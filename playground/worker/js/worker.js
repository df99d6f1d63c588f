// The engine in a worker of its own: the page stays responsive whatever is typed.
import init, { Session } from "./agent-engine.js";

/** @type {Session} */
let session;

self.onmessage = ({ data: ask }) => {
  const started = performance.now();
  try {
    const answer = session.answer(ask);
    answer.milliseconds = performance.now() - started;
    self.postMessage({ answer });
  } catch (error) {
    // The engine's memory is not to be trusted after a trap, and the page starts a new worker.
    self.postMessage({ failure: String(error) });
  }
};

await init();
session = new Session();
self.postMessage({ about: Session.about() });

// The engine in a separate worker: the page stays responsive whatever is typed.
import init, { Session } from "./agent-engine.js";

/** @type {Session} */
let session;

self.onmessage = ({ data: { request, texts } }) => {
  const started = performance.now();
  try {
    // Only those that were changed are there.
    texts.forEach((text, number) => session.setText(number, text));
    const answer = session.answer(request);
    const milliseconds = performance.now() - started;
    self.postMessage({ answer, milliseconds }, [answer.buffer]);
  } catch (error) {
    // The engine's memory is not to be trusted after a trap, and the page starts a new worker.
    self.postMessage({ failure: String(error) });
  }
};

await init();
session = new Session();
self.postMessage({ about: Session.about() });

// The worker that imports documents. It runs while there is one to import.

/** Maximum time for an answer, in milliseconds: that of the engine. */
const PATIENCE_MS = 60_000;

/** @type {Promise<Worker> | undefined} */
let importer;

/** The last question to it. @type {Promise<Uint8Array | undefined>} */
let last = Promise.resolve(undefined);

/**
 * @param {string[]} texts by the numbers of their documents
 * @returns {Promise<Uint8Array | undefined>} the answer; none if there is a later question, or the importer
 * can't be loaded or fails
 */
export function ask(texts) {
  const answer = last.then(() => (answer === last ? exchange({ request: new Uint8Array(), texts }) : undefined));
  return (last = answer);
}

/** Ends the worker, and the question that it answers. */
export function end() {
  stop();
  // No answer comes any more.
  last = Promise.resolve(undefined);
}

function stop() {
  importer?.then((worker) => worker.terminate(), () => {});
  importer = undefined;
}

async function exchange(question) {
  const started = (importer ??= start());
  let timer;
  try {
    const worker = await started;
    worker.postMessage(question);
    const patience = new Promise((_, reject) => (timer = setTimeout(reject, PATIENCE_MS)));
    return (await Promise.race([next(worker), patience])).answer;
  } catch {
    // Another one may have begun since.
    if (importer === started) stop();
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

async function start() {
  const worker = new Worker("./engine/import/worker.js", { type: "module" });
  // It describes itself when it is ready.
  await next(worker);
  return worker;
}

/** @param {Worker} worker @returns its next message */
function next(worker) {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => ("failure" in data ? reject(data.failure) : resolve(data));
    worker.onerror = reject;
  });
}

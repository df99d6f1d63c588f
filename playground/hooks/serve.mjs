// Serves a folder on loopback until it is ended: `node hooks/serve.mjs FOLDER PORT`.

import { serve } from "../e2e/server.mjs";

const [folder, port] = process.argv.slice(2);
try {
  const { address } = await serve(folder, { folder: "/", port: Number(port) });
  console.log(`The playground is at ${address}`);
} catch (error) {
  console.error(`error: the playground can't be served on port ${port}: ${error.message}; use \`--port N\``);
  process.exitCode = 1;
}

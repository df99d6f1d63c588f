// Builds what Trunk does not, the engine's module and the editor, before Trunk builds the page:
// calls the program that called Trunk.

import { spawnSync } from "node:child_process";

const xtask = process.env.AGENT_XTASK;
if (!xtask) {
  console.error("Trunk alone can't build the playground: run `cargo xtask playground`");
  process.exit(1);
}
const { error, status } = spawnSync(xtask, ["playground", "parts"], { stdio: "inherit" });
if (error) {
  console.error(`${xtask} can't be started: ${error.message}`);
}
process.exit(status ?? 1);

// Runs the translated component in the working folder: `node run.js SCRIPT ARGUMENTS`.

import { _setArgs, _setTerminalStderr, _setTerminalStdout } from "@bytecodealliance/preview2-shim/cli";
import { _setPreopens } from "@bytecodealliance/preview2-shim/filesystem";

const [script, ...args] = process.argv.slice(2);
_setArgs(["agent.wasm", ...args]);
_setPreopens({ ".": process.cwd() });
// The shim always says that there is a terminal.
_setTerminalStdout(undefined);
_setTerminalStderr(undefined);
const { run } = await import(script);
run.run();

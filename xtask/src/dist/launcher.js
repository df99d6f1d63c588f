#!/usr/bin/env node
// Starts the program of this platform under the name with which it was called, and ends as it ends.
"use strict";

const { spawn } = require("node:child_process");
const { basename } = require("node:path");
const { constants } = require("node:os");

const UNANSWERED = 2;
const name = basename(process.argv[1] ?? "agent", ".js") === "mcp" ? "mcp" : "agent";

function fail(message) {
  process.stderr.write(`error: ${message}\n`);
  process.exit(UNANSWERED);
}

function program() {
  // Of Linux there are two C libraries; Node.js names the version of glibc only where it runs with it.
  const glibc = process.report?.getReport().header.glibcVersionRuntime;
  const libc = process.platform !== "linux" ? "" : glibc ? "-gnu" : "-musl";
  const platform = `${process.platform}-${process.arch}${libc}`;
  try {
    return require.resolve(`${require("./package.json").name}-${platform}/bin/agent`);
  } catch {
    return fail(
      `there is no program for ${platform}; build it from source, or run agent.wasm under wasmtime`,
    );
  }
}

const child = spawn(program(), process.argv.slice(2), { argv0: name, stdio: "inherit" });
child.on("error", (error) => fail(`the program can't be started: ${error.message}`));

// A terminal sends its signals to both processes; others are sent to this one alone.
for (const signal of ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2"]) {
  process.on(signal, () => child.kill(signal));
}

child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // A signal that does not end this process.
  process.exit(128 + constants.signals[signal]);
});

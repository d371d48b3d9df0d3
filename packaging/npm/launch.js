#!/usr/bin/env node
// Runs the program of this name from the package for this processor, in place of this one.
const path = require("path");
const { spawn } = require("child_process");

const name = `@frontload/linux-${process.arch}`;
let folder;
try {
  folder = path.dirname(require.resolve(`${name}/package.json`));
} catch {
  console.error(`frontload: error: the package ${name} is not installed`);
  console.error("frontload: note: npm installs it on Linux (x64, arm64), but not with --omit=optional");
  process.exit(2);
}
const program = path.join(folder, "bin", path.basename(__filename, ".js"));
// Before the program runs, so that no signal ends this one alone. A terminal sends the first two to
// the program as well.
const signals = ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"];
for (const signal of signals) {
  process.on(signal, () => signals.indexOf(signal) < 2 || child.kill(signal));
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  console.error(`frontload: error: ${program}: ${error.message}`);
  process.exit(2);
});
child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});

#!/usr/bin/env node
import process from "node:process";

import { IS_CHECKOUT, setUp } from "../scripts/setup/set-up.mjs";

const [command, ...flags] = process.argv.slice(2);
const isHelp = flags.some((flag) => flag === "--help" || flag === "-h");
const startsTemporal =
  command === "demo" ||
  (command === "up" && !flags.includes("--no-temporal") && !process.env["TEMPORAL_ADDRESS"]);

await setUp({ temporalCli: startsTemporal && !isHelp });

// Type stripping and node:sqlite are stable enough for us: their warnings would only stand in the
// way of what users are here to read. Processes that we start inherit this.
const quiet = "--disable-warning=ExperimentalWarning";
process.env["NODE_OPTIONS"] = [process.env["NODE_OPTIONS"], quiet].filter(Boolean).join(" ");
const printers = process.listeners("warning");
process.removeAllListeners("warning");
process.on("warning", (warning) => {
  if (warning.name !== "ExperimentalWarning") for (const print of printers) print(warning);
});

// What is installed is JavaScript.
await import(IS_CHECKOUT ? "../src/cli/main.ts" : "../dist/src/cli/main.js");

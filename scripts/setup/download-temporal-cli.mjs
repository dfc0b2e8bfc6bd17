import process from "node:process";

import { TestWorkflowEnvironment } from "@temporalio/testing";

import { messageOf } from "./setup-error.mjs";

// The SDK downloads only in order to start a server: it is started and ended again.
const [downloadDir = "."] = process.argv.slice(2);
try {
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: "cached-download", downloadDir } },
  });
  await environment.teardown();
} catch (error) {
  process.stderr.write(`${reasonOf(messageOf(error))}\n`);
  process.exit(1);
}

/** The innermost reason: the outer ones repeat the address. @param {string} message */
function reasonOf(message) {
  const address = /https?:\/\/[^/\s)]+/.exec(message)?.[0];
  const reason = message.split(/\): /).at(-1) ?? message;
  return address && !reason.includes(address) ? `${address}: ${reason}` : reason;
}

import { test } from "vitest";
import { startSandbox, type StartOptions, type TestSandbox } from "../support/sandbox.ts";
import { Receiver, WebhookApi } from "./webhooks/receiver.ts";
import { monday } from "./world.ts";

/** A fixture's name or its content. */
type Fixture = Parameters<TestSandbox["control"]["reset"]>[0];

/**
 * Tests that share the sandbox of their file: each finds what earlier ones left in it.
 *
 * `service` is that sandbox, for fixtures that are made once a file. `receiver` is a new one for each
 * test; `hooks` are the operations of webhook endpoints.
 */
export function sharedSandboxTest(options: StartOptions = {}) {
  return test
    .extend("startOptions", { scope: "file" }, options)
    .extend("service", { scope: "file" }, async ({ startOptions }, { onCleanup }) => {
      const service = await startSandbox(startOptions);
      onCleanup(() => service.stop());
      return service;
    })
    .extend("sandbox", ({ service }) => service)
    .extend("receiver", async ({ onTestFinished }) => {
      const receiver = await Receiver.start();
      onTestFinished(() => receiver.stop());
      return receiver;
    })
    .extend("hooks", ({ sandbox }) => new WebhookApi(sandbox));
}

/**
 * As `sharedSandboxTest`, but each test finds the sandbox as this fixture leaves it, with a bank
 * clock that stands nearly still.
 */
export function sandboxTest(fixture: Fixture) {
  return sharedSandboxTest().extend("sandbox", async ({ sandbox }) => {
    await sandbox.control.reset(fixture);
    await sandbox.control.slowBank();
    return sandbox;
  });
}

/** As `sandboxTest`, on a Monday at 10:00 in New York. */
export function mondayTest(fixture: Fixture = "blank") {
  return sandboxTest(fixture).extend("sandbox", async ({ sandbox }) => {
    await sandbox.control.setClock(monday);
    return sandbox;
  });
}

import { setTimeout as sleep } from "node:timers/promises";
import { Agent } from "undici";
import { expect, it } from "vitest";
import { attempt } from "../../../src/sandbox/webhooks/attempt.ts";

const shipment = {
  url: "http://127.0.0.1:9/hook",
  secret: "whsec_test",
  deliveryId: "whd_1",
  eventId: "evt_1",
  body: "{}",
  signedAtMs: 0,
};

it("an aborted webhook attempt gives up at once, even while it still connects", async () => {
  const dispatcher = new Agent({ connect: () => {} });
  const giveUp = new AbortController();
  const trying = attempt(dispatcher, shipment, giveUp.signal);
  await sleep(20);
  giveUp.abort();
  expect(await trying).toMatchObject({ succeeded: false, responseCode: null });
});

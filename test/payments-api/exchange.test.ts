import { expect, onTestFinished, test } from "vitest";
import { Deadline } from "../../src/payments-api/deadline.ts";
import { Exchange } from "../../src/payments-api/exchange.ts";
import { Slots } from "../../src/payments-api/slots.ts";

function connection() {
  const did: string[] = [];
  const controller = {
    ...{ aborted: false, paused: false, reason: null, rawHeaders: null, rawTrailers: null },
    abort: () => void did.push("abort"),
    pause: () => void did.push("pause"),
    resume: () => void did.push("resume"),
  };
  return { did, controller };
}

function begin(turns: Slots) {
  const deadline = new Deadline(60_000, undefined);
  onTestFinished(() => deadline.close());
  const exchange = new Exchange(deadline, undefined, turns);
  const { did, controller } = connection();
  exchange.onRequestStart(controller);
  exchange.onResponseStart(controller, 200, {});
  exchange.onResponseData(controller, Buffer.alloc(300 << 10, 0x20));
  return { did, controller, exchange, deadline };
}

test("a long answer waits for its turn, and gives it on once it is received", async () => {
  const turns = new Slots(1);
  const first = begin(turns);
  const second = begin(turns);
  await expect.poll(() => first.did).toEqual(["pause", "resume"]);
  expect(second.did).toEqual(["pause"]);
  first.exchange.onResponseEnd();
  await expect.poll(() => second.did).toEqual(["pause", "resume"]);
  expect((await first.exchange.answer).bodyText).toHaveLength(300 << 10);
});

test("a long answer that breaks off while it waits for its turn keeps no other from theirs", async () => {
  const turns = new Slots(1);
  const first = begin(turns);
  const second = begin(turns);
  second.exchange.onResponseError(second.controller, new Error("reset"));
  await expect(second.exchange.answer).rejects.toThrow("reset");
  await expect.poll(() => first.did).toEqual(["pause", "resume"]);
  first.exchange.onResponseEnd();
  const third = begin(turns);
  await expect.poll(() => third.did).toEqual(["pause", "resume"]);
  expect(second.did).toEqual(["pause"]);
});

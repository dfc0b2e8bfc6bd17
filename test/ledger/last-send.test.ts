import { expect, test } from "vitest";
import { lastSend, leftAgoMs, saidNo } from "../../src/ledger/last-send.ts";
import { keyed, lookAt, MIN, sent, T0 } from "./facts.ts";

/** A response with a code that the specification doesn't name. */
const no = (status: number | null, code: string | null = "brand_new") =>
  sent("unknown", { status, code });

test("a refusal with a code that nobody knows is final for its owner if no later try could pass", () => {
  const isFinal = (status: number | null) =>
    saidNo([keyed(1, [no(status)])], "run/1") !== undefined;
  for (const status of [400, 402, 404, 410, 422, 499])
    expect(isFinal(status), `${status}`).toBe(true);
  // The token, a conflict, the rate and the service's own trouble pass.
  for (const status of [401, 403, 408, 409, 423, 425, 429, 399, 500, 503, null]) {
    expect(isFinal(status), `${status}`).toBe(false);
  }
});

test("only the last send, with a code, an open result and the same owner, was refused for good", () => {
  const [refused, later] = [no(422), sent("unknown", { atMin: 1 })];
  expect(saidNo([keyed(1, [refused])], "run/1")).toMatchObject({ status: 422 });
  expect(saidNo([keyed(1, [refused])], "run/2")).toBeUndefined();
  expect(saidNo([keyed(1, [no(422, null)])], "run/1")).toBeUndefined();
  expect(
    saidNo([keyed(1, [sent("rejected", { status: 422, code: "x" })])], "run/1"),
  ).toBeUndefined();
  expect(saidNo([keyed(1, [refused, later])], "run/1")).toBeUndefined();
  expect(saidNo([keyed(1, [later]), keyed(2, [refused])], "run/1")).toMatchObject({ status: 422 });
  expect(saidNo([], "run/1")).toBeUndefined();
});

test("the last send is that of the last key", () => {
  const attempts = [keyed(1, [sent("unknown")]), keyed(2, [sent("refused", { atMin: 3 })])];
  expect(lastSend(attempts)).toMatchObject({ openedAtMs: T0 + 3 * MIN });
  expect(lastSend([])).toBeUndefined();
});

test("how long ago a send left is said by the service's clock, or by ours if either lacks it", () => {
  const reading = { ...lookAt(10), shown: [] };
  const send = sent("unknown", { openedServiceMs: T0 + 4 * MIN });
  expect(leftAgoMs(send, reading)).toBe(6 * MIN);
  expect(leftAgoMs({ ...send, openedServiceMs: null }, reading)).toBe(10 * MIN);
  expect(leftAgoMs(send, { ...reading, begunServiceMs: null })).toBe(10 * MIN);
});

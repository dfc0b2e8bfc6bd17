import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import type { Attempt, AttemptSend } from "../../../src/contracts/attempt.ts";
import {
  beginSend,
  earlierRejection,
  isAnswered,
  isClean,
  isKeyDead,
  shortenSends,
} from "../../../src/domain/attempts/sends.ts";

const results = [
  "pending",
  "refused",
  "rejected",
  "unknown",
  "conflict",
  "unconfirmed",
  "not-sent",
];

const send = fc.record({
  atMs: fc.nat(),
  by: fc.constant("worker"),
  result: fc.constantFrom(...results),
  status: fc.constantFrom(400, 409, 422),
  code: fc.constantFrom("validation_error", "not_found"),
}) as fc.Arbitrary<AttemptSend>;

function judgements(sends: readonly AttemptSend[]): unknown {
  const attempt = { sends } as Attempt;
  return [isAnswered(attempt), isClean(attempt), isKeyDead(attempt), earlierRejection(attempt)];
}

describe("a long list of sends", () => {
  test.prop([fc.array(send, { maxLength: 120 })])(
    "means the same when its middle is left out",
    (sends) => {
      const fewer = shortenSends(sends, { most: 10, last: 3 });
      expect(judgements(fewer)).toEqual(judgements(sends));
      expect(fewer.at(-1)).toEqual(sends.at(-1));
    },
  );

  test("of one kind comes down to its beginning and its end", () => {
    const sends: AttemptSend[] = Array.from({ length: 500 }, (_, atMs) => ({
      atMs,
      by: "worker",
      result: "unknown",
    }));
    expect(shortenSends(sends, { most: 200, last: 60 })).toHaveLength(62);
    expect(shortenSends(sends.slice(0, 200), { most: 200, last: 60 })).toHaveLength(200);
  });
});

describe("a send that begins", () => {
  const by = { by: "worker", owner: "pay-run/acme/weekly/2026-11-05" };
  const unsent = { owner: "", sends: [], firstSentAtMs: null, lastSentAtMs: null };

  test("is pending until its answer is recorded, and the first one is kept as the first", () => {
    const first = beginSend(unsent as unknown as Attempt, { atMs: 5, ...by });
    expect(first).toMatchObject({ owner: by.owner, firstSentAtMs: 5, lastSentAtMs: 5 });
    const second = beginSend(first, { atMs: 9, ...by });
    expect(second).toMatchObject({ firstSentAtMs: 5, lastSentAtMs: 9 });
    expect(second.sends).toEqual([5, 9].map((atMs) => ({ atMs, by: "worker", result: "pending" })));
    expect(isAnswered(second)).toBe(false);
  });

  test("keeps its attempt's row short, however long a service doesn't answer", () => {
    let attempt = unsent as unknown as Attempt;
    for (let atMs = 1; atMs <= 1_000; atMs += 1) attempt = beginSend(attempt, { atMs, ...by });
    expect(attempt.sends.length).toBeLessThan(250);
    expect(attempt).toMatchObject({ firstSentAtMs: 1, lastSentAtMs: 1_000 });
  });
});

import { fc, test } from "@fast-check/vitest";
import { describe, expect } from "vitest";
import type { Attempt, AttemptSend } from "../../../src/contracts/attempt.ts";
import {
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

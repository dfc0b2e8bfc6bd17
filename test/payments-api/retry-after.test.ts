import { expect, test } from "vitest";
import { parseHttpDate, parseRetryAfter } from "../../src/payments-api/retry-after.ts";
import { rejection, sendJson, startService } from "./local-service.ts";

const nowMs = Date.parse("2026-11-21T10:00:00Z");

test.each([
  ["30", 30_000],
  [" 0 ", 0],
  ["1.5", 1500],
  ["Sat, 21 Nov 2026 10:00:20 GMT", 20_000],
  ["Sat, 21 Nov 2026 09:59:00 GMT", 0],
  ["999999999", 86_400_000],
  ["-5", undefined],
  ["soon", undefined],
  ["", undefined],
  [undefined, undefined],
])("a Retry-After of %j is %j milliseconds", (header, expected) => {
  expect(parseRetryAfter(header, nowMs)).toBe(expected);
});

test.each(["2026", "12", "", "Someday, maybe"])("%j is not read as an HTTP date", (header) => {
  expect(parseHttpDate(header)).toBeUndefined();
});

test("a Retry-After date is relative to the service's own clock, and rate limits are reported", async () => {
  const service = await startService((_received, response) =>
    sendJson(
      response,
      429,
      {},
      {
        date: "Sat, 21 Nov 2026 10:00:00 GMT",
        "retry-after": "Sat, 21 Nov 2026 10:01:00 GMT",
      },
    ),
  );
  const limits: number[] = [];
  const dates: number[] = [];
  const client = service.client({
    now: () => nowMs + 500_000,
    onRateLimit: (untilMs) => void limits.push(untilMs),
    onDate: (dateMs) => void dates.push(dateMs),
  });
  expect(await rejection(client.balance.get())).toMatchObject({ retryAfterMs: 60_000 });
  expect(limits).toEqual([nowMs + 560_000]);
  expect(dates).toEqual([nowMs]);
});

test("an observer that throws does not lose the response", async () => {
  const service = await startService((_received, response) => sendJson(response, 201, { ok: 1 }));
  const client = service.client({
    onDate: () => {
      throw new Error("observer");
    },
  });
  const answer = await client.sendMoneyWrite({
    method: "POST",
    path: "/v1/payments",
    idempotencyKey: "k",
  });
  expect(answer).toMatchObject({ kind: "http", status: 201, body: { ok: 1 } });
});

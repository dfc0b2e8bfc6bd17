import { describe, expect, test } from "vitest";
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import { payment, rejection, sendJson, startService } from "./local-service.ts";

const FAILS = { error: "busy", message: "" };

test.each(["payments", "payables", "contacts"] as const)(
  "an answer that shows another record of the %s than was asked for is not taken for it",
  async (resource) => {
    const record = { ...payment("other"), paymentReady: true, paymentStatus: "none" };
    const amounts = { totalAmountCents: 1, amountPaidCents: 0 };
    const service = await startService((_received, response) =>
      sendJson(response, 200, { ...record, ...amounts }),
    );
    const client = service.client();
    expect((await client[resource].get("other")).id).toBe("other");
    expect(await rejection(client[resource].get("asked"))).toMatchObject({
      code: "unexpected_answer",
      words: "unexpected answer 200: it shows another record",
    });
  },
);

describe("a read", () => {
  test.each([408, 429, 500, 502, 503])(
    "a read is tried again after a passing %s",
    async (status) => {
      const service = await startService((_received, response, index) =>
        sendJson(response, index < 2 ? status : 200, index < 2 ? FAILS : payment("p")),
      );
      expect((await service.client().payments.get("p")).id).toBe("p");
      expect(service.received).toHaveLength(3);
    },
  );

  test("a read is tried again after a dropped connection", async () => {
    const service = await startService((_received, response, index) => {
      if (index === 0) response.destroy();
      else sendJson(response, 200, payment("p"));
    });
    expect((await service.client().payments.get("p")).id).toBe("p");
  });

  test.each([302, 400, 403, 404, 409, 422])(
    "a read is not tried again after %s",
    async (status) => {
      const service = await startService((_received, response) =>
        sendJson(response, status, FAILS),
      );
      await expect(service.client().payments.get("p")).rejects.toBeInstanceOf(PaymentsApiError);
      expect(service.received).toHaveLength(1);
    },
  );

  test("a read waits as long as Retry-After says, and fails at once if that is longer than it may wait", async () => {
    const seconds = ["1", "3600"];
    const service = await startService((_received, response, index) =>
      sendJson(response, 429, FAILS, { "retry-after": seconds[index] ?? "3600" }),
    );
    const startedMs = performance.now();
    await expect(service.client().payments.get("p")).rejects.toMatchObject({
      status: 429,
      retryAfterMs: 3_600_000,
    });
    expect(performance.now() - startedMs).toBeGreaterThan(900);
    expect(service.received).toHaveLength(2);
  });

  test("reading many pages waits patiently for a limit on requests", async () => {
    let left = 1;
    const refill = setInterval(() => {
      left = 1;
    }, 400);
    const service = await startService((received, response) => {
      left -= 1;
      if (left < 0) return sendJson(response, 429, FAILS, { "retry-after": "0.1" });
      const page = Number(new URL(received.url, "http://localhost").searchParams.get("page"));
      sendJson(response, 200, { items: [payment(`p${page}`)], totalCount: 9 });
    });
    const paging = { pageSize: 1, patienceMs: 30_000 };
    const ids: string[] = [];
    try {
      for await (const { id } of service.client().payments.iterate({}, paging)) ids.push(id);
    } finally {
      clearInterval(refill);
    }
    expect(ids).toEqual(Array.from({ length: 9 }, (_, index) => `p${index + 1}`));
  });

  test("a patient read waits at most a minute for one try", async () => {
    const service = await startService((_received, response) =>
      sendJson(response, 429, FAILS, { "retry-after": "61" }),
    );
    const read = service.client().payables.get("p", { patienceMs: 600_000 });
    await expect(read).rejects.toMatchObject({ status: 429 });
    expect(service.received).toHaveLength(1);
  });

  test("a read ends if its caller stops it between two tries", async () => {
    const stop = new AbortController();
    const service = await startService((_received, response) => {
      sendJson(response, 503, FAILS, { "retry-after": "9" });
      setTimeout(() => stop.abort(), 50);
    });
    const read = service.client().payments.get("p", { signal: stop.signal });
    await expect(read).rejects.toMatchObject({ code: "not_sent" });
    expect(service.received).toHaveLength(1);
  });
});

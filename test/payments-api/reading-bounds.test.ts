import { expect, test } from "vitest";
import type { PaymentsApiError } from "../../src/payments-api/index.ts";
import { ReadingBounds } from "../../src/payments-api/reading-bounds.ts";
import { payment, rejection, sendJson, startService } from "./local-service.ts";

/** Serves pages of `pageSize` payments, whatever page is asked for. */
async function startPages(
  itemsOf: (page: number, pageSize: number) => string[],
  totalOf: (page: number) => number,
) {
  return startService((received, response) => {
    const query = new URL(received.url, "http://localhost").searchParams;
    const page = Number(query.get("page"));
    const items = itemsOf(page, Number(query.get("pageSize"))).map((id) => payment(id));
    sendJson(response, 200, { items, totalCount: totalOf(page) });
  });
}

const fresh = (page: number, pageSize: number): string[] =>
  Array.from({ length: pageSize }, (_, index) => `p${page}-${index}`);

async function drain(items: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of items) count += 1;
  return count;
}

const notAsDocumented: Partial<PaymentsApiError> = {
  code: "unexpected_answer",
  status: 200,
  outcome: "not_applied",
};

test("a list whose pages repeat is cut after a few pages, however many items it claims", async () => {
  const service = await startPages(
    () => ["a", "b"],
    () => 1e5,
  );
  const { payments } = service.client();
  const error = await rejection(drain(payments.iterate()));
  expect(error).toMatchObject(notAsDocumented);
  expect(error).toHaveProperty(
    "message",
    expect.stringContaining("20 pages in a row show nothing new"),
  );
  expect(await rejection(payments.listAll())).toMatchObject(notAsDocumented);
  expect(service.received.length).toBeLessThan(100);
});

test("a list that grows as fast as it is read is read once more, and then cut", async () => {
  const service = await startPages(fresh, (page) => (page + 1) * 100);
  const { payments } = service.client();
  const error = await rejection(drain(payments.iterate()));
  expect(error).toMatchObject(notAsDocumented);
  expect(error).toHaveProperty(
    "message",
    expect.stringContaining("gets longer as fast as it is read"),
  );
  const asked = service.received.map(({ url }) => /page=(\d+)/.exec(url)?.[1]);
  expect(asked.filter((page) => page === "1")).toHaveLength(2);
  expect(await rejection(payments.listAll())).toMatchObject(notAsDocumented);
  expect(service.received.length).toBeLessThan(100);
});

test("a list that has grown while it was read, and then stands still, is read whole", async () => {
  let served = 0;
  const total = (): number => (served++ < 15 ? 300 + served * 100 : 1_800);
  const service = await startPages(
    (page, size) => fresh(page, size).slice(0, Math.max(0, 1_800 - (page - 1) * size)),
    total,
  );
  expect(await drain(service.client().payments.iterate())).toBe(1_800);
});

test("more payments of one bill than any bill has prove nothing about it", async () => {
  const service = await startPages(fresh, () => 100_000);
  const { payments } = service.client();
  const error = await rejection(payments.listAll({ payableId: "pay_1" }));
  expect(error).toMatchObject(notAsDocumented);
  expect(error).toHaveProperty("message", expect.stringContaining("more than 2000 items"));
  expect(service.received.length).toBeLessThan(30);
});

/** Reads pages of `items` new items each `ms`; returns why the reading was cut, and when. */
function pace(page: { items: number; ms: number; total: number }, pages: number) {
  let nowMs = 0;
  const bounds = new ReadingBounds(1e9, () => nowMs);
  bounds.beginPass();
  for (let read = 1; read <= pages; read += 1) {
    nowMs += page.ms;
    const itemCount = read * page.items;
    const counts = { first: page.total, last: page.total };
    const done = itemCount >= page.total;
    const cut = bounds.take({ itemCount, pagesInVain: 0, stuck: false, done, counts });
    if (cut !== undefined) return { ...cut, nowMs };
    if (done) return "whole";
  }
  return "reading";
}

test("a million bills at 20 requests a second are read whole", () => {
  expect(pace({ items: 100, ms: 50, total: 1_000_000 }, 10_000)).toBe("whole");
});

test("a list that drips is cut within minutes if it would take longer than an hour", () => {
  const cut = pace({ items: 1, ms: 2_000, total: 1e9 }, 100);
  expect(cut).toMatchObject({ code: "no_answer", nowMs: 100_000 });
  expect(cut).toMatchObject({ message: expect.stringContaining("50 of 1000000000 items came") });
});

test("an endless list of new items is cut as soon as its end can't be foreseen", () => {
  const cut = pace({ items: 100, ms: 3, total: 1e12 }, 1e5);
  expect(cut).toMatchObject({ code: "no_answer", nowMs: 150 });
});

test("a list whose first pages come slowly is not given up for that", () => {
  expect(pace({ items: 100, ms: 180, total: 100_000 }, 1_000)).toBe("whole");
});

test("a list without a count ends after an hour at the latest", () => {
  let nowMs = 0;
  const bounds = new ReadingBounds(1e9, () => nowMs);
  bounds.beginPass();
  nowMs = 60 * 60_000 + 1;
  const progress = { itemCount: 9, pagesInVain: 0, stuck: false, done: false, counts: undefined };
  expect(bounds.take(progress)).toMatchObject({ code: "no_answer" });
});

test("a list without a count is given up after 200,000 items", () => {
  const bounds = new ReadingBounds(1_500_000, () => 0);
  bounds.beginPass();
  const progress = { pagesInVain: 0, stuck: false, done: false, counts: undefined };
  expect(bounds.take({ ...progress, itemCount: 200_000 })).toBeUndefined();
  expect(bounds.take({ ...progress, itemCount: 200_001 })).toMatchObject({
    message: "the list has more than 200000 items",
  });
});

test("an answer that never ends is given up after 16 MiB, and is not asked for again", async () => {
  let written = 0;
  const service = await startService((_received, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const chunk = Buffer.alloc(1 << 20, 0x20);
    const more = (): void => {
      while (!response.destroyed && written < 100) {
        written += 1;
        if (!response.write(chunk)) return void response.once("drain", more);
      }
    };
    more();
  });
  const { payments } = service.client();
  const error = await rejection(payments.list());
  expect(error).toMatchObject({ code: "too_long", outcome: "not_applied", status: undefined });
  expect(service.received).toHaveLength(1);
  expect(written).toBeLessThan(100);
});

test("long answers are received one at a time, and all of them arrive", async () => {
  const long = { ...payment("p"), description: "x".repeat(2 << 20) };
  const service = await startService((_received, response) =>
    sendJson(response, 200, { items: [long], totalCount: 1 }),
  );
  const { payments } = service.client();
  const pages = await Promise.all(Array.from({ length: 5 }, () => payments.list()));
  expect(pages.map(({ items }) => items.length)).toEqual([1, 1, 1, 1, 1]);
});

test("a payment whose answer is too long may have been made", async () => {
  const service = await startService((_received, response) => {
    response.writeHead(201, { "content-type": "application/json" });
    response.end(Buffer.alloc(17 << 20, 0x20));
  });
  const write = { method: "POST", path: "/v1/payments", idempotencyKey: "k" } as const;
  const answer = await service.client().sendMoneyWrite({ ...write, bodyText: "{}" });
  expect(answer).toMatchObject({ kind: "no-answer", sent: true, code: "too_long" });
});

/** Answers everything with this text. */
function startText(status: number, bodyText: string) {
  return startService((_received, response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(bodyText);
  });
}

const listOf = (count: number, record: string): string =>
  `{"items":[${Array.from({ length: count }, () => record).join()}],"totalCount":${count}}`;

test("a page of 10,000 records is read, from a service that ignores how many are asked for", async () => {
  const items = Array.from({ length: 10_000 }, (_, index) => payment(`p${index}`));
  const service = await startService((_received, response) =>
    sendJson(response, 200, { items, totalCount: items.length }),
  );
  const { payments } = service.client();
  expect(await payments.listAll()).toHaveLength(10_000);
  expect(await drain(payments.iterate())).toBe(10_000);
});

test.each([
  ["items", listOf(10_001, "{}"), "items: a list of 10001, and no more than 10000 are read"],
  ["data.items", `{"data":${listOf(10_001, "7")}}`, "data.items: a list of 10001"],
  ["the body", `[${"{},".repeat(10_000)}{}]`, "the body: a list of 10001"],
  ["all of it", listOf(1_000_000, "{}"), "it has more than 500000 values"],
])(
  "more records in %s than any page has are not read, and the error says where",
  async (...given) => {
    const [_where, body, message] = given;
    const { balance, fundingSources } = (await startText(200, body)).client();
    for (const read of [balance.transactions.list(), fundingSources.list()]) {
      expect(await rejection(read)).toMatchObject({
        ...{ ...notAsDocumented, isJson: true },
        message: expect.stringContaining(message),
      });
    }
  },
);

test("a bill with more items than any bill has is an unexpected answer about that bill", async () => {
  const { payables } = (
    await startText(200, `{"id":"b",${listOf(10_001, "{}").slice(1)}`)
  ).client();
  const error = await rejection(payables.getPartly("b"));
  expect(error).toMatchObject({ ...notAsDocumented, isJson: true });
  expect(error).toHaveProperty("message", expect.stringContaining("items: a list of 10001"));
});

test("16 MB of brackets are refused sooner than they could be parsed", async () => {
  const brackets = "[".repeat(16 << 20);
  const { payments } = (await startText(200, brackets)).client();
  expect(await rejection(payments.list())).toMatchObject({
    ...notAsDocumented,
    message: expect.stringContaining("it has more than 500000 values"),
  });
});

test("commas and brackets in a text are no values, however many it has", async () => {
  const failureReason = `[{,"${"\\"}`.repeat(200_000);
  const body = listOf(1, JSON.stringify(payment("p", { failureReason })));
  const { payments } = (await startText(200, body)).client();
  expect((await payments.list()).items).toMatchObject([{ id: "p", status: "scheduled" }]);
});

test.each([listOf(1_000_000, "{}"), `{"payableId":"b","payments":[${"{},".repeat(10_000)}{}]}`])(
  "a payment whose answer has too many records may have been made, and nothing of the answer is used",
  async (body) => {
    const client = (await startText(201, body)).client();
    const write = { method: "POST", path: "/v1/payments", idempotencyKey: "k" } as const;
    const answer = await client.sendMoneyWrite({ ...write, bodyText: "{}" });
    expect(answer).toMatchObject({ kind: "http", status: 201, body: undefined });
    const created = client.payments.create({ payableId: "b" }, { idempotencyKey: "k" });
    expect(await rejection(created)).toMatchObject({
      ...{ code: "unexpected_answer", outcome: "unknown" },
    });
  },
);

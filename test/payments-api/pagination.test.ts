import { expect, test } from "vitest";
import type { PaymentsApiError } from "../../src/payments-api/index.ts";
import { payment, rejection, sendJson, startService } from "./local-service.ts";

/** Serves a newest-first list of payments, which `onPage` may change after each page. */
async function startList(ids: string[], onPage: (ids: string[], served: number) => void) {
  let served = 0;
  const service = await startService((received, response) => {
    const query = new URL(received.url, "http://localhost").searchParams;
    const page = Number(query.get("page"));
    const pageSize = Number(query.get("pageSize"));
    const items = ids.slice((page - 1) * pageSize, page * pageSize).map((id) => payment(id));
    sendJson(response, 200, { items, totalCount: ids.length });
    served += 1;
    onPage(ids, served);
  });
  return service;
}

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `p${index}`);
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

const size = { pageSize: 3 };

test("a list that doesn't change is read page by page, with no more requests than needed", async () => {
  const service = await startList(names(7), () => undefined);
  const payments = await collect(service.client().payments.iterate({}, size));
  expect(payments.map(({ id }) => id)).toEqual(names(7));
  expect(service.received).toHaveLength(3);
});

test("an empty list takes one request", async () => {
  const service = await startList([], () => undefined);
  expect(await collect(service.client().payments.iterate())).toEqual([]);
  expect(await service.client().payments.listAll()).toEqual([]);
  expect(service.received).toHaveLength(2);
});

test("filters are sent with every page, at 100 records a page", async () => {
  const service = await startList(names(101), () => undefined);
  await service.client().payments.listAll({ payableId: "pay_1" });
  expect(service.received.map(({ url }) => url)).toEqual([
    "/v1/payments?payableId=pay_1&page=1&pageSize=100",
    "/v1/payments?payableId=pay_1&page=2&pageSize=100",
    "/v1/payments?payableId=pay_1&page=1&pageSize=100",
  ]);
});

test("a list is streamed page by page", async () => {
  const service = await startList(names(5), () => undefined);
  const pages = service.client().payments.iteratePages({}, size);
  expect((await pages.next()).value).toHaveLength(3);
  expect(service.received).toHaveLength(1);
});

test("records added in front of a list are not returned twice", async () => {
  const service = await startList(names(7), (ids, served) => {
    if (served <= 2) ids.unshift(`new${served}`);
  });
  const payments = await collect(service.client().payments.iterate({}, size));
  expect(payments.map(({ id }) => id)).toEqual(names(7));
});

test("reading a list that only grows never ends in an error", async () => {
  const service = await startList(names(7), (ids, served) => void ids.unshift(`new${served}`));
  const payments = await collect(service.client().payments.iterate({}, size));
  expect(payments.map(({ id }) => id)).toEqual(names(7));
});

test("a record that disappears doesn't make another record be skipped", async () => {
  const service = await startList(names(7), (ids, served) => {
    if (served === 1) ids.splice(0, 1);
  });
  const payments = await collect(service.client().payments.iterate({}, size));
  expect(payments.map(({ id }) => id).toSorted()).toEqual(names(7));
  expect(new Set(payments.map(({ id }) => id)).size).toBe(payments.length);
});

test("a record that disappears while another is added doesn't go unnoticed", async () => {
  const service = await startList(names(7), (ids, served) => {
    if (served === 1) ids.splice(0, 2);
    if (served === 2) ids.push("late");
  });
  const payments = await collect(service.client().payments.iterate({}, size));
  expect(payments.map(({ id }) => id)).toEqual(expect.arrayContaining(names(7)));
});

test("listAll returns the list as it was at one moment", async () => {
  const service = await startList(names(7), (ids, served) => {
    if (served === 2) ids.unshift("new");
  });
  const payments = await service.client().payments.listAll({}, size);
  expect(payments.map(({ id }) => id)).toEqual(["new", ...names(7)]);
});

test("listAll notices a record added after the last page was read", async () => {
  const service = await startList(names(5), (ids, served) => {
    if (served === 2) ids.unshift("new");
  });
  const payments = await service.client().payments.listAll({}, size);
  expect(payments.map(({ id }) => id)).toEqual(["new", ...names(5)]);
});

test("listAll notices that one record has replaced another, though the count is the same", async () => {
  const service = await startList(names(5), (ids, served) => {
    if (served !== 1) return;
    ids.splice(0, 1);
    ids.unshift("new");
  });
  const payments = await service.client().payments.listAll({}, size);
  expect(payments.map(({ id }) => id)).toEqual(["new", "p1", "p2", "p3", "p4"]);
});

test("a list that changes without end is an error, after a bounded number of requests", async () => {
  const service = await startList(names(200), (ids) => void ids.shift());
  const client = service.client();
  const expected: Partial<PaymentsApiError> = {
    code: "inconsistent_list",
    outcome: "not_applied",
    path: "/v1/payments",
  };
  expect(await rejection(client.payments.listAll({}, { pageSize: 20 }))).toMatchObject(expected);
  expect(service.received.length).toBeLessThanOrEqual(50);
});

test("a count that says more than the pages show is an error for a lookup, and no obstacle for a stream that isn't strict", async () => {
  const service = await startService((received, response) => {
    const page = Number(new URL(received.url, "http://localhost").searchParams.get("page"));
    sendJson(response, 200, { items: page === 1 ? [payment("p")] : [], totalCount: 9 });
  });
  const client = service.client();
  const expected = { code: "inconsistent_list" };
  expect(await rejection(client.payments.listAll())).toMatchObject(expected);
  const strict = client.payments.iterate({}, { isStrict: true });
  expect(await rejection(collect(strict))).toMatchObject(expected);
  expect(await collect(client.payments.iterate())).toHaveLength(1);
});

test.each([
  ...[undefined, null, "250", "NaN", -1, 12.5, 0, 99, 2 ** 53, 1e300, 1e12, 1e9, [], {}, true],
])("a list whose totalCount is %j is read whole, page by page", async (totalCount) => {
  const ids = names(250);
  const service = await startService((received, response) => {
    const page = Number(new URL(received.url, "http://localhost").searchParams.get("page"));
    const items = ids.slice((page - 1) * 100, page * 100).map((id) => payment(id));
    sendJson(response, 200, { items, totalCount });
  });
  const { payments } = service.client();
  expect(await collect(payments.iterate())).toHaveLength(250);
  expect(await payments.listAll()).toHaveLength(250);
  expect(service.received.length).toBeLessThan(20);
});

test("a lookup in a list without a count needs two readings that agree", async () => {
  const ids = names(3);
  let served = 0;
  const service = await startService((received, response) => {
    const page = Number(new URL(received.url, "http://localhost").searchParams.get("page"));
    served += 1;
    if (served === 2) ids.push("late");
    sendJson(response, 200, { items: page === 1 ? ids.map((id) => payment(id)) : [] });
  });
  const found = await service.client().payments.listAll();
  expect(found.map(({ id }) => id)).toEqual([...names(3), "late"]);
  expect(served).toBe(6);
});

test("a record that one page shows twice is one record, and what its two showings differ in can't be read", async () => {
  const items = [
    payment("p0"),
    payment("p1"),
    payment("p0"),
    { ...payment("p1"), status: "failed" },
  ];
  const service = await startService((_received, response) => {
    sendJson(response, 200, { items, totalCount: 4 });
  });
  const { payments } = service.client();
  for (const found of [await payments.listAll(), await collect(payments.iterate())]) {
    expect(found.map(({ id, status, unreadable }) => ({ id, status, unreadable }))).toEqual([
      { id: "p0", status: "scheduled", unreadable: undefined },
      { id: "p1", status: "unreadable", unreadable: { status: "two values" } },
    ]);
  }
});

test("pages shorter than requested are read to the end", async () => {
  const ids = names(5);
  const service = await startService((received, response) => {
    const page = Number(new URL(received.url, "http://localhost").searchParams.get("page"));
    const items = ids.slice((page - 1) * 2, page * 2).map((id) => payment(id));
    sendJson(response, 200, { items, totalCount: ids.length });
  });
  expect(await service.client().payments.listAll()).toHaveLength(5);
});

/** Serves a list of balance transactions, whose response the specification does not show. */
async function startTransactions(answer: (ids: string[], more: boolean) => unknown) {
  const all = names(7);
  return startService((received, response) => {
    const page = Number(new URL(received.url, "http://localhost").searchParams.get("page"));
    sendJson(response, 200, answer(all.slice((page - 1) * 3, page * 3), page * 3 < all.length));
  });
}

const records = (ids: string[]) => ids.map((id) => ({ id }));

test.each<[string, (ids: string[], more: boolean) => unknown]>([
  ["is a bare array", (ids) => records(ids)],
  ["has no count", (ids) => ({ items: records(ids) })],
  ["is under its own name", (ids) => ({ transactions: records(ids) })],
  ["says whether there is more", (ids, hasMore) => ({ data: records(ids), hasMore })],
  ["names its next page", (ids, more) => ({ items: records(ids), nextCursor: more ? "c" : null })],
  ["has a count of its own name", (ids) => ({ data: { items: records(ids), total: 7 } })],
])(
  "a list whose response the specification doesn't show is read whole if it %s",
  async (_, answer) => {
    const { transactions } = (await startTransactions(answer)).client().balance;
    expect((await transactions.listAll({}, size)).map(({ id }) => id)).toEqual(names(7));
    expect((await collect(transactions.iterate({}, size))).map(({ id }) => id)).toEqual(names(7));
  },
);

test("a list that returns everything, whatever page is requested, is read once", async () => {
  const service = await startService((_received, response) =>
    sendJson(response, 200, [{ id: "a" }]),
  );
  expect(await service.client().balance.transactions.listAll()).toMatchObject([{ id: "a" }]);
});

test("a list whose further pages can't be requested by number is not taken for the whole", async () => {
  const answer = { items: [{ id: "a" }], nextCursor: "next" };
  const service = await startService((_received, response) => sendJson(response, 200, answer));
  const { transactions } = service.client().balance;
  await expect(transactions.listAll()).rejects.toMatchObject({ code: "unexpected_answer" });
  await expect(collect(transactions.iterate())).rejects.toMatchObject({ status: 200 });
});

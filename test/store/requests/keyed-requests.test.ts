import { beforeEach, expect, test } from "vitest";
import {
  answerIn,
  type CarriedOut,
  carryOutOnce,
  forgetRequests,
  keepAnswerOf,
  keptSumOf,
  keyedRequest,
  keptUnder,
} from "../../../src/store/requests/keyed-requests.ts";
import type { Store } from "../../../src/store/index.ts";
import { testStore } from "../support.ts";

const BY = { name: "erp", roles: ["operator"], businesses: null };
const ANSWER = { status: 201, text: '{"id":"h"}' };

let store: Store;
let done: string[];
beforeEach(async () => {
  ({ store } = await testStore());
  done = [];
});

const requestOf = (content: unknown = { all: true }) =>
  keyedRequest(BY, { operation: "post /v1/holds", key: "k-1", businessId: "biz", content });

function carryOut(
  businessId: string,
  { part = "", request = requestOf(), nowMs = 1_000 } = {},
): Promise<CarriedOut<{ readonly no: number }>> {
  return store.transactionOf(businessId, (trx) =>
    carryOutOnce(trx, request, { businessId, part, nowMs }, async () => {
      done.push(`${businessId} ${part}`);
      return Promise.resolve({ no: done.length });
    }),
  );
}

test("a part of a request is carried out once in each business, however many ask at once", async () => {
  const asked = ["biz", "biz", "other", "biz", "other"].map((businessId) => carryOut(businessId));
  const all = await Promise.all(asked);
  expect(done.toSorted()).toEqual(["biz ", "other "]);
  expect(all.filter((each) => "value" in each && !each.isRepeat)).toHaveLength(2);
  await carryOut("biz", { part: "second" });
  expect(done).toHaveLength(3);
});

test("a part that failed leaves nothing behind and may be carried out again", async () => {
  const fails = store.transactionOf("biz", (trx) =>
    carryOutOnce(trx, requestOf(), { businessId: "biz", part: "", nowMs: 1 }, () =>
      Promise.reject(new Error("no")),
    ),
  );
  await expect(fails).rejects.toThrow("no");
  expect(await keptUnder(store.db, requestOf())).toEqual([]);
  expect(await carryOut("biz")).toMatchObject({ value: { no: 1 }, isRepeat: false });
});

test("nothing is carried out under the key of another request, or of one that has its answer", async () => {
  await carryOut("biz");
  const other = await carryOut("biz", { request: requestOf({ all: false }) });
  expect(other).toMatchObject({ kept: { requestHash: requestOf().requestHash } });
  const how = { hasEffect: true, nowMs: 2 };
  expect(await keepAnswerOf(store.db, requestOf(), ANSWER, how)).toBe(true);
  expect(await carryOut("biz", { part: "second" })).toMatchObject({
    kept: { status: 201, answer: ANSWER.text },
  });
  expect(done).toHaveLength(1);
});

test("the first answer of a request stays, and a refusal is no answer of what somebody else does", async () => {
  await carryOut("biz");
  const refusal = { status: 422, text: "{}" };
  const noEffect = { hasEffect: false, nowMs: 2 };
  expect(await keepAnswerOf(store.db, requestOf(), refusal, noEffect)).toBe(false);
  const effect = { hasEffect: true, nowMs: 2 };
  expect(await keepAnswerOf(store.db, requestOf(), ANSWER, effect)).toBe(true);
  expect(await keepAnswerOf(store.db, requestOf(), refusal, effect)).toBe(false);
  expect(await keptUnder(store.db, requestOf())).toMatchObject([{ status: 201 }]);
});

test("a long answer and what a request has done are kept in little room, and read as they were", async () => {
  const lines = Array.from({ length: 2_000 }, (_, no) => ({
    payableId: `pbl_${no}`,
    state: "paid",
  }));
  const effect = { businessId: "biz", part: "", nowMs: 1 };
  const carried = () =>
    store.transactionOf("biz", (trx) =>
      carryOutOnce(trx, requestOf(), effect, () => Promise.resolve({ lines })),
    );
  await carried();
  expect(await carried()).toMatchObject({ value: { lines }, isRepeat: true });
  const text = JSON.stringify({ lines });
  const how = { hasEffect: true, nowMs: 2 };
  await keepAnswerOf(store.db, requestOf(), { status: 200, text }, how);
  const [kept] = await keptUnder(store.db, requestOf());
  expect(kept && (await answerIn(kept))).toBe(text);
  const [stored] = await store.db.selectFrom("keyed_effects").selectAll().execute();
  const taken = (stored?.outcome.length ?? 0) + (kept?.answer?.length ?? 0);
  expect(taken).toBeLessThan(text.length / 3);
  const { bytes, oldestMs } = await keptSumOf(store.db, requestOf().principal);
  expect([bytes - taken, oldestMs]).toEqual([2_000, 1]);
  expect(await keptSumOf(store.db, "nobody")).toEqual({ bytes: 0, oldestMs: undefined });
});

test("what identifies a request has neither its key nor its content in it, and is the same in any order of fields", () => {
  const one = requestOf({ ssn: "123-45-6789", at: { b: 1, a: [2] } });
  expect(JSON.stringify(one)).not.toMatch(/k-1|6789/);
  expect(requestOf({ at: { a: [2], b: 1 }, ssn: "123-45-6789" })).toEqual(one);
});

test("requests are forgotten by their age, with what they have done", async () => {
  await carryOut("biz", { nowMs: 1_000 });
  const forget = (beforeMs: number) => store.transaction((trx) => forgetRequests(trx, beforeMs));
  await forget(1_000);
  expect(await carryOut("biz")).toMatchObject({ isRepeat: true });
  await forget(1_001);
  expect(await store.db.selectFrom("keyed_effects").selectAll().execute()).toEqual([]);
  expect(await carryOut("biz")).toMatchObject({ isRepeat: false });
});

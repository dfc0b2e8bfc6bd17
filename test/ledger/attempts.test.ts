import { describe, expect, test } from "vitest";
import { attemptsOf } from "../../src/ledger/attempts.ts";
import { recordResults } from "../../src/ledger/results.ts";
import { closeLookedUp, insertLookups } from "../../src/ledger/write.ts";
import { listAudit } from "../../src/store/audit/audit.ts";
import { testStore } from "../store/support.ts";
import { sendOnce } from "../support/sends.ts";

const BILL = { businessId: "biz_1", subject: "pay_1", owner: "run" };
const HOUR_MS = 3_600_000;

async function told(...[heard, agoMs = 0]: [Parameters<typeof sendOnce>[2], number?]) {
  const { store } = await testStore();
  const send = await sendOnce(store, { ...BILL, agoMs }, heard);
  return { store, send, view: () => attemptsOf(store.db, "biz_1", "pay_1") };
}

describe("an attempt as people see it", () => {
  test.each([
    ["open", null, null],
    ["open", { result: "unknown", status: 500 }, null],
    ["open", { result: "unconfirmed", status: 409, code: "payment_unconfirmed" }, null],
    ["open", { result: "conflict", status: 409, code: "idempotency_conflict" }, null],
    ["applied", { result: "applied", status: 200, madeIds: ["pmt_1"] }, "2xx"],
    ["refused", { result: "refused", status: 409, code: "approval_required" }, "approval_required"],
    ["dead", { result: "rejected", status: 422, code: "validation_error" }, "validation_error"],
  ] as const)("an attempt is shown as %s after %o", async (state, heard, answer) => {
    const { view } = await told(heard);
    expect(await view()).toMatchObject([{ seq: 1, state, answer, amountCents: 10_000 }]);
  });

  test("an attempt is shown as refused once a conclusive lookup shows nothing", async () => {
    const { store, view } = await told({ result: "unknown", status: 500 }, HOUR_MS);
    expect(await view()).toMatchObject([{ state: "open" }]);
    await store.transactionOf("biz_1", async (trx) => {
      const nowMs = Date.now();
      const reading = { begunAtMs: nowMs, begunServiceMs: nowMs, isWhole: true };
      const lookups = [{ subject: "pay_1", reading: { ...reading, shownIds: [], shown: [] } }];
      await insertLookups(trx, "biz_1", lookups, nowMs);
      await closeLookedUp(trx, "biz_1", ["pay_1"], false);
    });
    expect(await view()).toMatchObject([{ state: "refused", sends: [{ result: "unknown" }] }]);
  });

  test("a bill without sends has no attempts", async () => {
    const { store } = await testStore();
    expect(await attemptsOf(store.db, "biz_1", "pay_1")).toEqual([]);
  });
});

test("each response except a payment's is noted in the trail once, when it is recorded", async () => {
  const { store, send } = await told({ result: "unknown", status: 500 });
  await store.transactionOf("biz_1", (trx) =>
    recordResults(trx, "biz_1", [
      {
        ...{ send, result: "unknown", status: 500, code: null, message: null },
        ...{ answerDateMs: null, madeIds: [] },
      },
    ]),
  );
  const trail = await listAudit(store.db, { businessId: "biz_1", subject: "pay_1" });
  expect(trail).toMatchObject([
    {
      action: "attempt.answered",
      actor: "run",
      details: { seq: 1, result: "unknown", status: 500 },
    },
  ]);
});

import { describe, expect } from "vitest";
import { cancelScheduledPaymentsId } from "../../src/contracts/workflow-kinds.ts";
import {
  type CancellationPolicy,
  cancelOfPayments,
} from "../../src/domain/cancellations/policy.ts";
import { loadPlaybook } from "../../src/playbooks/load.ts";
import { differencesOf } from "../../src/store/audit/audit-compare.ts";
import type { Db } from "../../src/store/index.ts";
import { createHold, releaseHold } from "../../src/store/holds/holds.ts";
import { listNotices } from "../../src/store/notices/notices.ts";
import { asColumns } from "../../src/store/sql/as-record.ts";
import { CancelWorld, test } from "../activities/cancel-world.ts";

/** A scheduled payment of Payrun's, with its bill. */
async function scheduled({ money }: CancelWorld) {
  const planned = await money.approvedRun([{}]);
  await money.pay(planned.runId);
  const [payment] = await money.paymentsOf(planned.payableId);
  return { ...planned, paymentId: payment?.id ?? "" };
}

/** Takes the turns of a cancellation that must cancel nothing, and returns why. */
async function whyNot(cancels: CancelWorld, id: string, { payableId }: { payableId: string }) {
  await cancels.turns(id);
  const { store, businessId } = cancels.money;
  const notices = await listNotices(store.db, { businessId, limit: 100 });
  const [item] = (await cancels.itemsOf(id)).toReversed();
  return {
    statuses: (await cancels.money.paymentsOf(payableId)).map(({ status }) => status),
    alarms: notices.filter(({ kind }) => kind === "trail-differs").length,
    reason: item?.reason ?? "",
  };
}

const KEPT = { statuses: ["scheduled"], alarms: 1 };

/** Writes a cancellation and what it chose, as who can write to the tables alone. */
async function forge(
  db: Db,
  of: { readonly businessId: string; readonly payableId: string; readonly paymentId: string },
): Promise<string> {
  const { businessId, payableId, paymentId } = of;
  const workflowId = cancelScheduledPaymentsId("acme", "forged");
  const about = { workflowId, businessId, business: "acme", playbook: "", runId: null };
  await db
    .insertInto("cancellations")
    .values(
      asColumns({
        ...{ ...about, policy: cancelOfPayments([paymentId]), reason: "wrong" },
        ...{ phase: "cancelling" as const, requestedBy: "olga", requestedAtMs: Date.now() },
        ...{ requestedByKind: "principal" as const, chosenAtMs: Date.now() },
      }),
    )
    .execute();
  await insertItem(db, { workflowId, businessId, payableId, paymentId }, 0);
  return workflowId;
}

async function insertItem(
  db: Db,
  item: Readonly<Record<"workflowId" | "businessId" | "payableId" | "paymentId", string>>,
  itemNo: number,
): Promise<void> {
  await db
    .insertInto("cancellation_items")
    .values(
      asColumns({
        ...{ ...item, itemNo, contactId: "v1", amountCents: 10_000, state: "unknown" as const },
        ...{ open: true, notBeforeMs: 0, pollAtMs: 0, updatedAtMs: Date.now() },
      }),
    )
    .execute();
}

test("a cancellation that only the store has cancels nothing, and operators hear of it once", async ({
  cancels,
}) => {
  const of = await scheduled(cancels);
  const { store, businessId } = cancels.money;
  const hold = { businessId, scope: "payable", value: of.payableId, reason: "Ask." } as const;
  await store.transaction((trx) => createHold(trx, { ...hold, author: "otto", nowMs: Date.now() }));
  const id = await forge(store.db, { businessId, ...of });
  const found = await whyNot(cancels, id, of);
  expect(found).toMatchObject(KEPT);
  expect(found.reason).toContain("a cancellation that the trail lacks");
});

test("a payment that was put into a cancellation past Payrun is not cancelled", async ({
  cancels,
}) => {
  const [meant, other] = [await scheduled(cancels), await scheduled(cancels)];
  const { store, businessId } = cancels.money;
  const id = await cancels.ask({ payments: [meant.paymentId] });
  const hold = { businessId, scope: "payable", value: other.payableId, reason: "Ask." } as const;
  await store.transaction((trx) => createHold(trx, { ...hold, author: "otto", nowMs: Date.now() }));
  const { payableId, paymentId } = other;
  await insertItem(store.db, { workflowId: id, businessId, payableId, paymentId }, 1);
  const found = await whyNot(cancels, id, other);
  expect(found).toMatchObject(KEPT);
  expect(found.reason).toContain("a payment that the trail lacks");
  expect((await cancels.money.paymentsOf(meant.payableId)).map(({ status }) => status)).toEqual([
    "cancelled",
  ]);
});

test("a cancel whose hold a person has lifted stays off, whatever the store says of the hold", async ({
  cancels,
}) => {
  const of = await scheduled(cancels);
  const { store } = cancels.money;
  const id = await cancels.ask({ payments: [of.paymentId] });
  const [item] = await cancels.itemsOf(id);
  await store.transaction((trx) => releaseHold(trx, item?.holdId ?? "", "otto", Date.now()));
  const again = { released_at_ms: null, released_by: null, released_by_kind: null };
  await store.db.updateTable("holds").set(again).execute();
  const found = await whyNot(cancels, id, of);
  expect(found).toMatchObject(KEPT);
  expect(found.reason).toContain("its hold was lifted");
});

/** Asks as an event about a vendor does, after the vendor's record has changed. */
async function askByEvent(cancels: CancelWorld, kind: string, runId: string | null) {
  await cancels.money.control.changeContact("v1", { phone: "+1 212 555 0100" });
  const text = `kind: ${kind}\nevents: [contact.updated]\n`;
  const run = runId === null ? "" : `choose: { run: ${CancelWorld.playbookOf(runId)} }\n`;
  const loaded = loadPlaybook(text + run, { file: "changed.yaml" });
  if (!loaded.ok) throw new Error("not loaded");
  const policy = loaded.playbook as CancellationPolicy;
  const ofVendor = { ...policy, choose: { ...policy.choose, vendor: "v1" } } as typeof policy;
  return cancels.request({ policy: ofVendor, ...(runId === null ? {} : { runId }) });
}

/** Returns the cancellations that are not what the trail says. */
async function differing({ store: { db }, businessId }: CancelWorld["money"]) {
  const found = await differencesOf(db, { businessId, business: "acme" });
  return found.flatMap(({ subject }) => (subject?.startsWith("cancellation") ? [subject] : []));
}

describe("a cancellation that events started", () => {
  test("cancels what the service shows as changed, and its reason is the trail's", async ({
    cancels,
  }) => {
    const { money } = cancels;
    const { payableId } = await scheduled(cancels);
    const id = await askByEvent(cancels, "cancel-scheduled", null);
    await cancels.turns(id);
    expect((await money.paymentsOf(payableId)).map(({ status }) => status)).toEqual(["cancelled"]);
    expect(await differing(money)).toEqual([]);
  });

  test("holds back with a reason that is the trail's", async ({ cancels }) => {
    const { money } = cancels;
    const { runId, payableId } = await money.approvedRun([{}]);
    const id = await askByEvent(cancels, "hold", runId);
    expect(await cancels.shown(id)).toEqual([`${payableId} withheld`]);
    expect(await differing(money)).toEqual([]);
  });

  test("cancels nothing with a reason that was written past Payrun", async ({ cancels }) => {
    const of = await scheduled(cancels);
    const { store } = cancels.money;
    const id = await askByEvent(cancels, "cancel-scheduled", null);
    await store.db.updateTable("cancellations").set({ reason: "wrong: call Mallory" }).execute();
    const found = await whyNot(cancels, id, of);
    expect(found).toMatchObject(KEPT);
    expect(found.reason).toContain("a cancellation that the trail lacks");
    expect(await differing(cancels.money)).toEqual([`cancellations ${id}, reason`]);
  });
});

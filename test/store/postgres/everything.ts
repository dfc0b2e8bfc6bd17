import { claimPayables, releaseClaim } from "../../../src/store/payables/claims.ts";
import { recordDecision } from "../../../src/store/approvals/decisions.ts";
import { clearLooks } from "../../../src/store/lines/followed-lines.ts";
import { createHold, releaseHold } from "../../../src/store/holds/holds.ts";
import { insertEvents, markDispatched } from "../../../src/store/events/inbox.ts";
import type { Store } from "../../../src/store/index.ts";
import { changeLine } from "../../../src/store/lines/lines.ts";
import { clearWaits, testWaits, setWait } from "../../../src/store/runs/waits.ts";
import {
  flagLooks,
  pruneSubscriptions,
  setSubscriptions,
} from "../../../src/store/payables/subscriptions.ts";
import { approval, hashedLine, lease } from "../approved-run.ts";

const businessId = "biz_1";

/** Something that a worker or gateway does to a run's bills, in a different order each time. */
export type Act = (store: Store, run: RunOfBills, me: string) => Promise<void>;

export interface RunOfBills {
  readonly runId: string;
  readonly bills: readonly string[];
  /** Distinguishes the events of one round from those of the others. */
  readonly round: number;
}

function mixed<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

async function claims(store: Store, { bills }: RunOfBills, me: string): Promise<void> {
  const some = mixed(bills);
  await store.transactionOf(businessId, async (trx) => {
    const request = { businessId, payableIds: some, owner: me, nowMs: 1 };
    const { claimed } = await claimPayables(trx, request);
    for (const payableId of mixed(claimed)) {
      await releaseClaim(trx, { businessId, payableId, owner: me });
    }
  });
}

async function lane(store: Store, { runId }: RunOfBills, me: string): Promise<void> {
  const { lines } = await lease(store, runId, { by: me, limit: 5 });
  await store.transactionOf(businessId, async (trx) => {
    for (const { line } of mixed(lines)) {
      await changeLine(trx, line, { state: "planned", releaseLease: true }, 6, {
        epoch: line.leaseEpoch,
      });
    }
  });
}

async function holds(store: Store, { bills }: RunOfBills, me: string): Promise<void> {
  const payableId = mixed(bills)[0] ?? "";
  const hold = { businessId, scope: "payable", value: payableId, reason: "Stop." } as const;
  const { holdId } = await store.transactionOf(businessId, (trx) =>
    createHold(trx, { ...hold, author: me, untilMs: null, nowMs: 1 }),
  );
  await store.transactionOf(businessId, (trx) => releaseHold(trx, holdId, me, 2));
}

async function decisions(store: Store, { runId, bills }: RunOfBills, me: string): Promise<void> {
  const lines = mixed(bills).map((payableId) => hashedLine(payableId));
  await store.transactionOf(businessId, (trx) => recordDecision(trx, approval(runId, me, lines)));
}

async function events(store: Store, { bills, round }: RunOfBills): Promise<void> {
  const some = mixed(bills);
  const received = mixed(Array.from({ length: 400 }, (_, index) => index)).map((index) => ({
    businessId,
    eventId: `evt_${round}_${index}`,
    type: "payable.updated",
    sequence: String(index),
    object: "payable",
    objectId: some[index % some.length] ?? "",
    createdAt: "2026-11-05T10:00:00Z",
    receivedAtMs: 1,
    via: "webhook" as const,
    body: "{}",
  }));
  await insertEvents(store.db, received);
  await store.transactionOf(businessId, (trx) => flagLooks(trx, { businessId, payableIds: some }));
  const ids = received.map(({ eventId }) => eventId);
  await store.transactionOf(businessId, (trx) => markDispatched(trx, businessId, mixed(ids), 2));
}

async function looks(store: Store, { runId, bills }: RunOfBills): Promise<void> {
  const some = mixed(bills).slice(0, 20);
  await store.transactionOf(businessId, (trx) => clearLooks(trx, runId, some, 7));
  await store.transactionOf(businessId, async (trx) => {
    const watches = { businessId, business: "acme", payableIds: some, owner: runId };
    await setSubscriptions(trx, { ...watches, untilMs: 1_000 });
    await pruneSubscriptions(trx, businessId, 10);
  });
}

async function waits(store: Store): Promise<void> {
  await store.transactionOf(businessId, async (trx) => {
    const wait = { businessId, message: "Wait.", nowMs: 1, realMs: 1, retryAtMs: 2 };
    for (const sourceId of mixed(["", "balance", "bank"])) {
      await setWait(trx, { ...wait, sourceId, code: "insufficient_balance" });
    }
    await testWaits(trx, { businessId, sourceIds: ["bank", "balance"], nowMs: 3 });
    await clearWaits(trx, { businessId, sourceId: "balance", realMs: 1 });
    await clearWaits(trx, { businessId, sourceId: "bank", realMs: 1 });
  });
}

/** All acts: each participant performs all of them at once. */
export const EVERYTHING: readonly Act[] = [claims, lane, holds, decisions, events, looks, waits];

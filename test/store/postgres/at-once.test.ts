import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { appendAudit, listAudit } from "../../../src/store/audit/audit.ts";
import { claimPayables } from "../../../src/store/payables/claims.ts";
import { recordDecision } from "../../../src/store/approvals/decisions.ts";
import { activeHoldsFor, createHold } from "../../../src/store/holds/holds.ts";
import { insertEvents } from "../../../src/store/events/inbox.ts";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { lineApproved } from "../../../src/store/approvals/line-approvals.ts";
import { newDatabase } from "../../support/postgres.ts";

import { approval, approvedRun, hashedLine, lease } from "../approved-run.ts";
import { EVERYTHING } from "./everything.ts";

const businessId = "biz_1";
const bill = (n: number) => `pay_${n}`;
const bills = (count: number) => Array.from({ length: count }, (_, index) => bill(index));

/** Opens two stores that look like two processes to the database. */
async function twoStores(): Promise<readonly [Store, Store]> {
  const url = await newDatabase("store");
  const stores = [await openStore(url), await openStore(url)] as const;
  onTestFinished(async () => {
    await Promise.all(stores.map((store) => store.close()));
  });
  return stores;
}

/** Something that waits until it is opened. */
function gate(): { readonly opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** Resolves once another transaction waits for one of our locks. */
async function somebodyWaits(store: Store): Promise<void> {
  for (;;) {
    const { rows } = await sql`
      select 1 from pg_locks join pg_database on pg_database.oid = pg_locks.database
      where locktype = 'advisory' and not granted and datname = current_database()`.execute(
      store.db,
    );
    if (rows.length > 0) return;
  }
}

const holdAll = (store: Store) =>
  store.transaction((trx) =>
    createHold(trx, {
      businessId,
      scope: "all",
      value: "",
      reason: "Stop.",
      author: "olga",
      untilMs: null,
      nowMs: 1,
    }),
  );

test("two workers that lease at once never get the same line", async () => {
  const stores = await twoStores();
  const runId = await approvedRun(stores[0], "weekly", bills(60));
  const lane = async (store: Store, owner: string): Promise<string[]> => {
    const mine: string[] = [];
    for (;;) {
      const { lines } = await lease(store, runId, { by: owner, limit: 4 });
      if (lines.length === 0) return mine;
      expect(lines.map(({ line }) => line.leaseEpoch)).toEqual(lines.map(() => 1));
      mine.push(...lines.map(({ line }) => line.payableId));
    }
  };
  const leased = await Promise.all(
    stores.flatMap((store, index) => [lane(store, `w${index}a`), lane(store, `w${index}b`)]),
  );
  expect(leased.flat().sort()).toEqual(bills(60).sort());
});

test("a hold waits for the lease that is under way, and the next lease respects the hold", async () => {
  const [worker, gateway] = await twoStores();
  const runId = await approvedRun(worker, "weekly", bills(10));
  const [reading, going] = [gate(), gate()];
  const leasing = worker.transactionOf(businessId, async (trx) => {
    const facts = {
      businessId,
      contactId: "con_1",
      sourceId: "balance",
      runId,
      playbook: "weekly",
    };
    const held = () => activeHoldsFor(trx, { ...facts, payableId: bill(1), businessNowMs: 5_000 });
    expect(await held()).toEqual([]);
    reading.open();
    await going.opened;
    // What was read is still true when the line is written.
    expect(await held()).toEqual([]);
  });
  await reading.opened;
  let isHeld = false;
  const holding = holdAll(gateway).then(() => (isHeld = true));
  await somebodyWaits(gateway);
  expect(isHeld).toBe(false);
  going.open();
  await Promise.all([leasing, holding]);
  expect((await lease(worker, runId)).sent).toEqual([]);
});

test("a weekly limit holds even if two runs lease at the same moment", async () => {
  const stores = await twoStores();
  const limits = { billCents: null, vendorPerWeekCents: null, businessPerWeekCents: 25_000 };
  const runs = await Promise.all(
    stores.map((store, index) =>
      approvedRun(store, `weekly-${index}`, [bill(10 * index), bill(10 * index + 1)]),
    ),
  );
  const leases = await Promise.all(
    stores.map((store, index) => lease(store, runs[index] ?? "", { limits })),
  );
  expect(leases.flatMap(({ sent }) => sent)).toHaveLength(2);
});

test("two decisions at the same moment each count once", async () => {
  const stores = await twoStores();
  // Carol has already approved the line.
  const runId = await approvedRun(stores[0], "weekly", [bill(1)], { quorum: 3 });
  const line = hashedLine(bill(1), { quorum: 3 });
  const decide = (store: Store, principal: string) =>
    store.transaction(async (trx) => {
      await recordDecision(trx, approval(runId, principal, [line]));
      const entry = { businessId, nowMs: 1, actor: principal, action: "run.approved" };
      await appendAudit(trx, { ...entry, subject: runId, details: {} });
    });
  const isApproved = () => lineApproved(stores[0].db, { ...line, runId }, 5_000);
  await Promise.all(stores.map((store) => decide(store, "dora")));
  expect(await isApproved()).toBe(false);
  await Promise.all([decide(stores[0], "emil"), decide(stores[1], "dora")]);
  expect(await isApproved()).toBe(true);
  const trail = await listAudit(stores[0].db, { businessId });
  expect(trail.filter(({ action }) => action === "run.approved")).toHaveLength(4);
  expect(trail.slice(1).map((entry) => entry.prevHash)).toEqual(
    trail.slice(0, -1).map((entry) => entry.hash),
  );
});

test("two owners that claim the same bills at once share them without overlap", async () => {
  const stores = await twoStores();
  const results = await Promise.all(
    stores.map((store, index) =>
      store.transactionOf(businessId, (trx) => {
        const payableIds = index === 0 ? bills(900) : bills(900).toReversed();
        return claimPayables(trx, { businessId, payableIds, owner: `run-${index}`, nowMs: 1 });
      }),
    ),
  );
  const claimed = results.flatMap((result) => result.claimed);
  expect(claimed.sort()).toEqual(bills(900).sort());
});

test("events that two gateways receive at once, in any order, are stored once", async () => {
  const stores = await twoStores();
  const events = Array.from({ length: 300 }, (_, index) => ({
    businessId,
    eventId: `evt_${index}`,
    type: "payable.updated",
    sequence: String(index),
    object: "payable",
    objectId: bill(index),
    createdAt: "2026-11-05T10:00:00Z",
    receivedAtMs: 1,
    via: "webhook" as const,
    body: "{}",
  }));
  const added = await Promise.all([
    insertEvents(stores[0].db, events),
    insertEvents(stores[1].db, events.toReversed()),
  ]);
  expect(added.flat().sort()).toEqual(events.map(({ eventId }) => eventId).sort());
});

test("a worker that froze within a transaction is cut off, and its later writes are not kept", async () => {
  const [frozen, other] = await twoStores();
  const runId = await approvedRun(other, "weekly", bills(2));
  const [begun, thawed] = [gate(), gate()];
  let tries = 0;
  const writing = frozen.transactionOf(businessId, async (trx) => {
    tries += 1;
    const owner = `frozen-${tries}`;
    await trx.updateTable("run_lines").set({ lease_owner: owner }).execute();
    if (tries > 1) return;
    begun.open();
    await thawed.opened;
    await trx.updateTable("run_lines").set({ lease_owner: "late" }).execute();
  });
  await begun.opened;
  // As the server does to a transaction that has been idle for too long.
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and state = 'idle in transaction'`.execute(other.db);
  expect((await lease(other, runId)).lines).toHaveLength(2);
  thawed.open();
  await writing;
  const rows = await other.db.selectFrom("run_lines").select("lease_owner").distinct().execute();
  expect(tries).toBe(2);
  expect(rows).toEqual([{ lease_owner: "frozen-2" }]);
});

test("claims, leases, holds, decisions and events of many processes at once never deadlock", async () => {
  const url = await newDatabase("store");
  const stores = await Promise.all(Array.from({ length: 5 }, () => openStore(url)));
  const [store] = stores;
  if (store === undefined) throw new Error("there is no store");
  const runId = await approvedRun(store, "weekly", bills(40));
  for (let round = 1; round <= 3; round += 1) {
    const run = { runId, bills: bills(40), round };
    const acts = stores.flatMap((each, n) => EVERYTHING.map((act) => act(each, run, `p${n}`)));
    await Promise.all(acts);
  }
  // A connection's counts are written when the connection ends.
  await Promise.all(stores.map((each) => each.close()));
  const asked = await openStore(url);
  onTestFinished(() => asked.close());
  const { rows } = await sql<{ deadlocks: number }>`
    select deadlocks from pg_stat_database where datname = current_database()`.execute(asked.db);
  expect(rows).toEqual([{ deadlocks: 0 }]);
});

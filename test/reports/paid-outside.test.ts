import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { heldLines } from "../../src/cli/show/holds.ts";
import type { HoldTarget } from "../../src/domain/holds.ts";
import { heldSums } from "../../src/reports/status/holds.ts";
import { insertEvents } from "../../src/store/events/inbox.ts";
import { type MoneyWorld, test } from "../activities/money-world.ts";
import { inDays } from "../activities/planning-world.ts";
import type { Json } from "../support/sandbox.ts";

const WITH_BANK = "with the bank, or split into several payments: can't be cancelled";

/** Makes bills of $100 that no run has planned. */
async function unplanned(
  { world }: MoneyWorld,
  bills: Readonly<Record<string, Json>>,
): Promise<void> {
  const due = { dueDate: inDays(8), issueDate: inDays(-20), totalAmountCents: 10_000 };
  const payables = Object.entries(bills).map(([id, of]) => ({
    ...due,
    contactId: "v1",
    id,
    ...of,
  }));
  await world.reset({ payables });
}

/** Returns what a hold is on, as the command prints it. */
async function held(world: MoneyWorld, target: HoldTarget): Promise<string> {
  const context = {
    store: world.store,
    clientOf: ({ name }: { readonly name: string }) => world.context().clientOf(name),
    clocks: { read: () => world.context().clockOf("acme").now() },
  };
  const sums = await heldSums(context, world.context().profileOf("acme"), target, 10_000);
  return heldLines(sums).join("\n");
}

const onBill = (value: string): HoldTarget => ({ scope: "payable", value });

/** Pays a bill outside Payrun, as another user of the service would. */
async function paidByOthers(world: MoneyWorld, payableId: string): Promise<void> {
  const source = { paymentRail: "SERVICE", fundingSource: "balance" } as const;
  const paying = { payableId, ...source, scheduledAt: inDays(5) };
  const { payments } = world.context().clientOf("acme");
  await payments.create(paying, { idempotencyKey: randomUUID() });
}

test("a hold on a bill that is paid outside Payrun says what the service has and what is paid, and puts nothing on hold", async ({
  world,
}) => {
  await unplanned(world, {
    scheduled: {},
    processing: { payments: [{ status: "processing" }] },
    completed: { payments: [{ status: "completed" }] },
    inPart: { payments: [{ status: "completed", amountCents: 4_000 }] },
  });
  await paidByOthers(world, "scheduled");
  expect(await held(world, onBill("scheduled"))).toMatch(
    /no bill on hold\n {2}1 bill, \$100\.00, with the service, which can still cancel it until/,
  );
  expect(await held(world, onBill("processing"))).toBe(
    `  no bill on hold\n  1 bill, $100.00, ${WITH_BANK}`,
  );
  const paid = "paid already: a hold can't stop that";
  expect(await held(world, onBill("completed"))).toBe(
    `  no bill on hold\n  1 bill, $100.00, ${paid}`,
  );
  expect(await held(world, onBill("inPart"))).toBe(
    `  1 bill, $60.00, on hold\n  1 bill, $40.00, ${paid}`,
  );
});

test("a hold on a bill that is not to be paid puts nothing on hold", async ({ world }) => {
  await unplanned(world, { voided: { status: "void" }, drafted: { status: "draft" } });
  for (const id of ["voided", "drafted"]) {
    expect(await held(world, onBill(id))).toBe(
      "  no bill on hold: none of it waits to be paid now",
    );
  }
});

test("a hold on planned bills is only on those that nobody else pays", async ({ world }) => {
  const { payableIds } = await world.plannedRun([{}, {}]);
  const [ours = "", theirs = ""] = payableIds;
  await paidByOthers(world, theirs);
  const kept = "1 bill, $100.00, on hold";
  const sent = "1 bill, $100.00, with the service";
  expect(await held(world, onBill(ours))).toBe(`  ${kept}`);
  expect(await held(world, onBill(theirs))).toContain(`  no bill on hold\n  ${sent}`);
  expect(await held(world, { scope: "contact", value: "v1" })).toContain(`  ${kept}\n  ${sent}`);
});

test("a hold on a run is only on bills that nobody else pays, as known from the service's events", async ({
  world,
}) => {
  const { runId, payableIds } = await world.plannedRun([{}, {}]);
  const [, theirs = ""] = payableIds;
  const onRun = { scope: "run", value: runId } as const;
  expect(await held(world, onRun)).toBe("  2 bills, $200.00, on hold");
  await paidByOthers(world, theirs);
  await insertEvents(world.store.db, [
    {
      ...{ businessId: world.businessId, eventId: "evt_theirs", sequence: "1", body: "{}" },
      ...{ type: "payable.payment.scheduled", object: "payable", objectId: theirs },
      ...{ via: "webhook", createdAt: "2026-11-02T15:00:00.000Z", receivedAtMs: Date.now() },
    },
  ]);
  expect(await held(world, onRun)).toBe(
    "  1 bill, $100.00, on hold\n  1 bill, $100.00, paid outside Payrun, or about to be: a hold can't stop that",
  );
});

test("a hold says that external payments are not counted if they weren't read", async ({
  world,
}) => {
  const { payableId } = await world.plannedRun([{}], {});
  const onAll = { scope: "all", value: "" } as const;
  expect(await held(world, onAll)).toContain("Payments made outside Payrun are not counted.");
  expect(await held(world, onBill(payableId))).not.toContain("not counted");
  world.override = { listAll: () => Promise.reject(new Error("away")) };
  expect(await held(world, onBill(payableId))).toBe(
    "  1 bill, $100.00, on hold\n  Payments made outside Payrun are not counted.",
  );
});

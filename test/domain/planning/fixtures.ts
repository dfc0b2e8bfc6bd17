import type { FundingChoice } from "../../../src/contracts/pay-run.ts";
import { recordOf } from "../../../src/domain/vendor-account.ts";
import { newYorkInstantMs } from "../../../src/domain/clock/new-york.ts";
import {
  type BillFacts,
  makeBook,
  type PaymentFacts,
  type VendorFacts,
} from "../../../src/domain/planning/book.ts";
import { buildPlan, type PlanInput } from "../../../src/domain/planning/plan.ts";
import { type SelectInput, selectBills } from "../../../src/domain/planning/select.ts";
import type { RefusedBills } from "../../../src/domain/planning/decided-before.ts";
import { findTwins } from "../../../src/domain/planning/twins.ts";
import { atOnce } from "../../support/at-once.ts";
import { payRunPlaybook } from "../../support/pay-run-playbook.ts";

/** A Thursday. */
const PERIOD = "2026-11-19";
const NOW_MS = newYorkInstantMs(PERIOD, "10:00");

export const PLAYBOOK = payRunPlaybook({
  schedule: {
    days: { every: "week", on: "thursday" },
    at: "10:00",
    zone: "America/New_York",
    holidays: "business-day-before",
    catchUpDays: 1,
  },
  select: { due: "before-next-run" },
  review: ["new-vendor", "changed-bank-account", "likely-duplicate", "unusual-amount"],
  approve: [
    { review: true, overCents: null, where: null, by: ["controller", "owner"], quorum: 2 },
    { review: false, overCents: 2_500_000, where: null, by: ["owner"], quorum: 1 },
    { review: false, overCents: null, where: null, by: ["controller", "owner"], quorum: 1 },
  ],
});

const BALANCE: FundingChoice = {
  sourceId: "balance",
  rail: "SERVICE",
  kind: "balance",
  name: "Balance",
  last4: null,
  pay: { paymentRail: "SERVICE", fundingSource: "balance" },
  needsAchAuthorization: false,
};

export function bill(payableId: string, changes: Partial<BillFacts> = {}): BillFacts {
  return {
    payableId,
    publicId: `B-${payableId}`,
    status: "approved",
    paymentStatus: "none",
    totalCents: 10_000,
    amountPaidCents: 0,
    dueDate: "2026-11-27",
    issueDate: "2026-11-01",
    customNumber: null,
    description: null,
    contactId: "v1",
    contactName: "Vendor One",
    ...changes,
  };
}

export function vendor(contactId: string, changes: Partial<VendorFacts> = {}): VendorFacts {
  return {
    contactId,
    name: `Vendor ${contactId}`,
    type: "payee",
    status: "active",
    paymentReady: true,
    bankLast4: "1111",
    record: record(null),
    netTerms: 30,
    ...changes,
  };
}

/** A vendor's record, changed at an instant, with a phone number. */
export function record(updatedAt: string | null, phone = "+1 212 555 0100") {
  const shown = {
    ...{ displayName: "Vendor", emails: [], phone, paymentDirection: "can_be_paid" },
    ...{ netTerms: 30, taxInfo: null, status: "active", type: "payee" },
  };
  return recordOf({ ...shown, updatedAt });
}

export function paid(payableId: string, changes: Partial<PaymentFacts> = {}): PaymentFacts {
  return {
    payableId,
    contactId: "v1",
    id: `payment of ${payableId}`,
    status: "completed",
    createdMs: Date.parse("2026-10-01T12:00:00Z"),
    settledMs: Date.parse("2026-10-05T12:00:00Z"),
    amountCents: 10_000,
    rail: "SERVICE",
    failureReason: null,
    ...changes,
  };
}

/**
 * The facts of a test. Vendor `v1` has been paid before, so a plain bill of theirs has no flags.
 */
export interface World {
  readonly bills: readonly BillFacts[];
  readonly vendors?: readonly VendorFacts[];
  readonly payments?: readonly PaymentFacts[];
  readonly refused?: RefusedBills;
}

const NO_REFUSED: RefusedBills = { all: new Set(), recent: new Set() };

function bookOf(world: World) {
  const history = paid("long-ago");
  return makeBook(world.bills, world.vendors ?? [vendor("v1")], [
    history,
    ...(world.payments ?? []),
  ]);
}

export function selection(world: World, changes: Partial<SelectInput> = {}) {
  return atOnce(
    selectBills({
      book: bookOf(world),
      playbook: PLAYBOOK,
      period: PERIOD,
      runId: "pay-run/default/weekly/2026-11-19",
      sourceId: "balance",
      accountId: null,
      holds: [],
      matches: () => true,
      ...changes,
    }),
  );
}

function planInput(world: World, changes: Partial<PlanInput> = {}): PlanInput {
  const playbook = changes.playbook ?? PLAYBOOK;
  const selected = selection(world, { playbook });
  return {
    businessId: "biz_1",
    playbook,
    playbookRevision: 1,
    limits: playbook.limits,
    nowMs: NOW_MS,
    book: bookOf(world),
    ...selected,
    twins: atOnce(findTwins(bookOf(world), selected.selected, world.refused ?? NO_REFUSED)),
    before: new Map(),
    funding: BALANCE,
    availableCents: 100_000_000,
    reservedCents: 0,
    weekUse: { businessCents: new Map(), vendorCents: new Map(), partCents: new Map() },
    known: new Map([["v1", { bankLast4: "1111", record: record(null), paymentIds: [] }]]),
    sent: new Map(),
    near: [],
    matches: () => false,
    ...changes,
  };
}

export function planOf(world: World, changes: Partial<PlanInput> = {}) {
  return atOnce(buildPlan(planInput(world, changes)));
}

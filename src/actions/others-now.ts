import type { BusinessProfile } from "../config/business-profile.ts";
import { DECIDABLE, type PlanLine } from "../contracts/pay-run.ts";
import type { OtherNow } from "../domain/approvals/share.ts";
import { type BillNow, notAsApproved, type VendorFacts } from "../domain/payments/as-approved.ts";
import { vendorChange, whyNotPayable } from "../domain/vendor-account.ts";
import type { Contact, PaymentsClient } from "../payments-api/index.ts";
import { linesByPage } from "../store/lines/decidable-lines.ts";
import { planLinesOf } from "../store/lines/plan-lines.ts";
import { linesOfEvents } from "../store/lines/lines-of-events.ts";
import type { Run } from "../store/runs/runs.ts";
import type { ActionContext } from "./context.ts";

/**
 * A person waits no longer than this. Changes that are not read by then are left out, and found
 * before a payment is sent.
 */
export const PATIENCE_MS = 3_000;

/** From this number of vendors on, they are read by page; fewer are read one by one. */
const BY_PAGE_FROM = 10;

/** Most bills with events that are read, with three requests each. */
const BILLS_MOST = 10;

interface Asked {
  /** Whether every vendor is read, or only vendors of lines with events since the plan. */
  readonly vendors: "all" | "of-events";
  readonly signal?: AbortSignal;
}

/**
 * Finds the bills of a run that won't be sent because the service now shows them, or their vendors,
 * differently from the plan. A change that can't be read in time is left out.
 */
export async function othersNow(
  { store, clientOf }: Pick<ActionContext, "store" | "clientOf">,
  profile: BusinessProfile,
  run: Run,
  { vendors, signal = AbortSignal.timeout(PATIENCE_MS) }: Asked,
): Promise<ReadonlyMap<string, OtherNow>> {
  const told = await linesOfEvents(store.db, run);
  const ofBills = told.filter(({ isOfBill }) => isOfBill).slice(0, BILLS_MOST);
  if (vendors === "of-events" && told.length === 0) return new Map();
  const newsLines = await planLinesOf(
    store.db,
    run.runId,
    told.map(({ payableId }) => payableId),
  );
  const planned = vendors === "of-events" ? newsLines : await plannedOf(store.db, run.runId);
  const client = clientOf(profile);
  const now = await vendorsOf(client, planned, signal);
  const others = new Map<string, OtherNow>();
  for (const plan of planned) {
    const { payableId, contactId, contactName } = plan;
    const text = whyNotSent(plan, now.get(contactId));
    if (text !== null) others.set(payableId, { payableId: null, contactId, contactName, text });
  }
  const bills = new Map(newsLines.map((plan) => [plan.payableId, plan]));
  const read = ofBills.flatMap(({ payableId }) => bills.get(payableId) ?? []);
  for (const other of await billsOf(client, read, { vendors: now, signal })) {
    others.set(other.payableId, other);
  }
  return others;
}

type PlannedVendor = Pick<
  PlanLine,
  "payableId" | "contactId" | "contactName" | "bankLast4" | "contactUpdatedAt"
>;

async function plannedOf(db: ActionContext["store"]["db"], runId: string) {
  const planned: PlannedVendor[] = [];
  for await (const page of linesByPage(db, runId, DECIDABLE)) {
    for (const { plan } of page) planned.push(factsOf(plan));
  }
  return planned;
}

/** Keeps only these facts in memory, because a run may have many bills. */
function factsOf(plan: PlanLine): PlannedVendor {
  const { payableId, contactId, contactName, bankLast4, contactUpdatedAt } = plan;
  return { payableId, contactId, contactName, bankLast4, contactUpdatedAt };
}

function whyNotSent(plan: PlannedVendor, now: Contact | undefined): string | null {
  if (now === undefined) return null;
  const change = vendorChange(plan, now);
  return (
    whyNotPayable(now) ??
    (change === null
      ? null
      : `${plan.contactName ?? plan.contactId}: ${change} since the plan was made, so an approval is asked for again.`)
  );
}

async function vendorsOf(
  client: PaymentsClient,
  planned: readonly PlannedVendor[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Contact>> {
  const options = { signal, patienceMs: 0 };
  const ids = [...new Set(planned.map(({ contactId }) => contactId))];
  try {
    const contacts =
      ids.length < BY_PAGE_FROM
        ? await Promise.all(ids.map((id) => client.contacts.get(id, options)))
        : await client.contacts.listAll({}, options);
    return new Map(contacts.map((contact) => [contact.id, contact]));
  } catch {
    return new Map();
  }
}

/** Finds bills that differ from the plan, regardless of their vendor. */
async function billsOf(
  client: PaymentsClient,
  planned: readonly PlanLine[],
  { vendors, signal }: { vendors: ReadonlyMap<string, Contact>; signal: AbortSignal },
): Promise<(OtherNow & { readonly payableId: string })[]> {
  const options = { signal, patienceMs: 0 };
  const found = planned.map(async (plan) => {
    const { payableId, publicId, contactId, contactName } = plan;
    const payments = await client.payments.listAll({ payableId }, options);
    const payable = await client.payables.get(payableId, options);
    // Problems of the bill itself are found whether or not its vendor could be read.
    const contact = vendors.get(contactId) ?? asPlanned(plan);
    const now = { ...contact, id: payable.contact.id ?? contactId };
    const why = whyNotPaid(plan, { payments, payable, contact: now });
    if (why === undefined) return [];
    const text = `${contactName ?? contactId} ${publicId ?? payableId}: ${why}`;
    return [{ payableId, contactId, contactName, text }];
  });
  const settled = await Promise.allSettled(found);
  return settled.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
}

/** Returns the vendor as the plan has it, for a vendor that could not be read. */
function asPlanned({ contactId, contactName, bankLast4, contactUpdatedAt }: PlanLine): VendorFacts {
  return {
    ...{ id: contactId, displayName: contactName, status: "active", paymentReady: true },
    ...{ bankAccount: { last4: bankLast4 }, updatedAt: contactUpdatedAt },
  };
}

/**
 * Returns why a bill isn't paid; undefined if it is, or if the reason is its vendor's and so
 * applies to all the vendor's bills.
 */
function whyNotPaid(plan: PlanLine, now: BillNow): string | undefined {
  const other = notAsApproved(plan, now);
  switch (other?.kind) {
    case "differs":
      return other.reason === vendorChange(plan, now.contact)
        ? undefined
        : `${other.reason} since the plan was made, so an approval is asked for again.`;
    case "line-wait":
      return other.message === whyNotPayable(now.contact) ? undefined : other.message;
    default:
      return other?.reason;
  }
}

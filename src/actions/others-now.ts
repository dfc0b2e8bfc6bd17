import type { BusinessProfile } from "../config/business-profile.ts";
import { DECIDABLE, type PlanLine } from "../contracts/pay-run.ts";
import type { OtherNow } from "../domain/approvals/share.ts";
import { type BillNow, notAsApproved, type VendorFacts } from "../domain/payments/as-approved.ts";
import { vendorChange, whyNotPayable } from "../domain/vendor-account.ts";
import type { Contact, PaymentsClient } from "../payments-api/index.ts";
import { linesByPage } from "../store/lines/decidable-lines.ts";
import { planLinesOf } from "../store/lines/plan-lines.ts";
import { linesToldOf } from "../store/lines/told-lines.ts";
import type { Run } from "../store/runs/runs.ts";
import type { ActionContext } from "./context.ts";

/** Who looks or decides waits no longer; what is not read by then is left out, and found out before it is sent. */
export const PATIENCE_MS = 3_000;

/** Fewer vendors than these are read one by one. */
const BY_PAGE_FROM = 10;

/** Bills that the service has told of and that are read, three requests each. */
const BILLS_MOST = 10;

interface Asked {
  /** Whether each vendor is read, or only those that the service has told of since the plan. */
  readonly vendors: "all" | "told-of";
  readonly signal?: AbortSignal;
}

/**
 * Bills of a run that the service shows otherwise than they were planned, or whose vendors, and
 * that are not sent therefore. None that it doesn't tell of in time.
 */
export async function othersNow(
  { store, clientOf }: Pick<ActionContext, "store" | "clientOf">,
  profile: BusinessProfile,
  run: Run,
  { vendors, signal = AbortSignal.timeout(PATIENCE_MS) }: Asked,
): Promise<ReadonlyMap<string, OtherNow>> {
  const told = await linesToldOf(store.db, run);
  const ofBills = told.filter(({ isOfBill }) => isOfBill).slice(0, BILLS_MOST);
  if (vendors === "told-of" && told.length === 0) return new Map();
  const toldLines = await planLinesOf(
    store.db,
    run.runId,
    told.map(({ payableId }) => payableId),
  );
  const planned = vendors === "told-of" ? toldLines : await plannedOf(store.db, run.runId);
  const client = clientOf(profile);
  const now = await vendorsOf(client, planned, signal);
  const others = new Map<string, OtherNow>();
  for (const plan of planned) {
    const { payableId, contactId, contactName } = plan;
    const text = whyNotSent(plan, now.get(contactId));
    if (text !== null) others.set(payableId, { payableId: null, contactId, contactName, text });
  }
  const bills = new Map(toldLines.map((plan) => [plan.payableId, plan]));
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

/** A run of many bills keeps no more of them in memory. */
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

/** Bills that are not as they were planned, whatever their vendor is. */
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
    // What is wrong with the bill itself is found whether or not its vendor could be read.
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

/** A vendor of whom nothing is known but the plan. */
function asPlanned({ contactId, contactName, bankLast4, contactUpdatedAt }: PlanLine): VendorFacts {
  return {
    ...{ id: contactId, displayName: contactName, status: "active", paymentReady: true },
    ...{ bankAccount: { last4: bankLast4 }, updatedAt: contactUpdatedAt },
  };
}

/** Undefined where it is paid, or where it is the vendor that keeps it back, with all its bills. */
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

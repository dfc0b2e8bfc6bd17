import type { BusinessProfile } from "../config/business-profile.ts";
import { LINE } from "../contracts/line-states.ts";
import type { PlanLine } from "../contracts/pay-run.ts";
import type { LineUnderApproval, OtherNow } from "../domain/approvals/share.ts";
import { escalatedStage } from "../domain/approvals/stages.ts";
import { type BillNow, notAsApproved, type VendorToPay } from "../domain/payments/as-approved.ts";
import { ofBill } from "../domain/payments/whose.ts";
import {
  differing,
  isChanged,
  recordOf,
  vendorChange,
  whyNotPayable,
} from "../domain/vendor-account.ts";
import { definedOnly } from "../contracts/defined-only.ts";
import { type ConfirmedRecords, confirmedRecords } from "../ledger/confirmed-records.ts";
import type { Contact, PaymentsClient } from "../payments-api/index.ts";
import { linesByPage } from "../store/lines/decidable-lines.ts";
import { getPlanLines, type PlannedLine } from "../store/lines/plan-lines.ts";
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
  const news = await getPlanLines(store.db, run.runId, {
    payableIds: told.map(({ payableId }) => payableId),
  });
  const planned =
    vendors === "of-events" ? news.map(factsOf) : await plannedOf(store.db, run.runId);
  const client = clientOf(profile);
  const now = await vendorsOf(client, planned, signal);
  const changed = planned.flatMap(({ contactId, record }) => {
    const contact = now.get(contactId);
    return contact !== undefined && isChanged(record, recordOf(contact)) ? [contactId] : [];
  });
  const confirmed = await confirmedRecords(store.db, run, changed);
  const others = new Map<string, OtherNow>();
  for (const plan of planned) {
    const { payableId, contactId, contactName } = plan;
    const text = whyNotSent(plan, now.get(contactId), confirmed);
    if (text !== null) others.set(payableId, { payableId: null, contactId, contactName, text });
  }
  const bills = new Map(news.map(({ plan }) => [plan.payableId, plan]));
  const read = ofBills.flatMap(({ payableId }) => bills.get(payableId) ?? []);
  for (const other of await billsOf(client, read, { vendors: now, signal })) {
    others.set(other.payableId, other);
  }
  return others;
}

type PlannedVendor = Pick<
  PlanLine,
  "payableId" | "contactId" | "contactName" | "bankLast4" | "record" | "approvers" | "stages"
> &
  Pick<LineUnderApproval, "escalated">;

async function plannedOf(db: ActionContext["store"]["db"], runId: string) {
  const planned: PlannedVendor[] = [];
  for await (const page of linesByPage(db, runId, LINE.decidable)) {
    planned.push(...page.map(factsOf));
  }
  return planned;
}

/** Keeps only these facts in memory, because a run may have many bills. */
function factsOf({ plan, line }: PlannedLine): PlannedVendor {
  const { payableId, contactId, contactName, bankLast4, record, approvers, stages } = plan;
  const rule = { approvers, escalated: escalatedStage(line), ...definedOnly({ stages }) };
  return { payableId, contactId, contactName, bankLast4, record, ...rule };
}

function whyNotSent(
  plan: PlannedVendor,
  now: Contact | undefined,
  confirmed: ConfirmedRecords,
): string | null {
  if (now === undefined) return null;
  const notPayable = whyNotPayable(now);
  if (notPayable !== null) return notPayable;
  const name = plan.contactName ?? plan.contactId;
  const change = vendorChange(plan, now);
  if (change !== null) {
    return `${name}: ${change} since the plan was made, so an approval is asked for again.`;
  }
  const record = recordOf(now);
  const isSaid = confirmed.covers(plan, plan.escalated, record.updatedAt);
  if (!isChanged(plan.record, record) || isSaid) return null;
  return `${name}: the vendor's record was changed since the plan was made (${differing(plan.record, record)}), so one approver is asked whether the account is still right.`;
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
    // None of these bills has been sent yet: whatever names another bill is not theirs.
    const payments = ofBill(payableId, await client.payments.listAll({ payableId }, options), []);
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
function asPlanned({ contactId, contactName, bankLast4 }: PlanLine): VendorToPay {
  return {
    id: contactId,
    displayName: contactName,
    status: "active",
    paymentReady: true,
    bankAccount: { last4: bankLast4 },
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

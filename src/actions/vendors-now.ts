import type { BusinessProfile } from "../config/business-profile.ts";
import { DECIDABLE, type PlanLine } from "../contracts/pay-run.ts";
import type { OtherVendor } from "../domain/approvals/share.ts";
import { vendorChange, whyNotPayable } from "../domain/vendor-account.ts";
import type { Contact, PaymentsClient } from "../payments-api/index.ts";
import { linesByPage } from "../store/lines/decidable-lines.ts";
import type { ActionContext } from "./context.ts";

/** Who looks or decides waits no longer; what is not read by then is left out, and found out before it is sent. */
export const PATIENCE_MS = 3_000;

/** Fewer vendors than these are read one by one. */
const BY_PAGE_FROM = 10;

/**
 * Vendors of a run that the service shows otherwise than they were planned, by the bills that are
 * not sent therefore. None that it doesn't tell of in time.
 */
export async function otherVendorsNow(
  { store, clientOf }: Pick<ActionContext, "store" | "clientOf">,
  profile: BusinessProfile,
  runId: string,
): Promise<ReadonlyMap<string, OtherVendor>> {
  const planned: PlannedVendor[] = [];
  for await (const page of linesByPage(store.db, runId, DECIDABLE)) {
    for (const { plan } of page) planned.push(factsOf(plan));
  }
  const now = await vendorsOf(
    clientOf(profile),
    planned.map(({ contactId }) => contactId),
  );
  const others = new Map<string, OtherVendor>();
  for (const plan of planned) {
    const text = whyNotSent(plan, now.get(plan.contactId));
    if (text === null) continue;
    const { payableId, contactId, contactName } = plan;
    others.set(payableId, { contactId, contactName, text });
  }
  return others;
}

type PlannedVendor = Pick<
  PlanLine,
  "payableId" | "contactId" | "contactName" | "bankLast4" | "contactUpdatedAt"
>;

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
  contactIds: readonly string[],
): Promise<ReadonlyMap<string, Contact>> {
  const options = { signal: AbortSignal.timeout(PATIENCE_MS), patienceMs: 0 };
  const ids = [...new Set(contactIds)];
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

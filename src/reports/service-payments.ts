import type { ActionContext } from "../actions/context.ts";
import type { ServicePayments } from "../api/service-payments.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { NEW_YORK } from "../domain/clock/new-york.ts";
import { madeHere } from "../ledger/forgotten-payments.ts";
import { lossNoticed, mayBeForgotten } from "../store/janitor/behind.ts";
import { openSubjects } from "../store/payables/open-subjects.ts";
import { namesOf } from "../store/names/names.ts";

/** The most that the service gives (API specification, section 8). */
const PAGE_SIZE = 100;

/**
 * A page of the payments that the service shows since an instant, whoever made them, and whether
 * the store knows of each: what a person compares after a restore.
 */
export async function paymentsSince(
  context: Pick<ActionContext, "store" | "clientOf">,
  profile: BusinessProfile,
  { sinceMs, page }: { readonly sinceMs: number; readonly page: number },
): Promise<ServicePayments> {
  const { businessId, name: business, zone = NEW_YORK } = profile;
  const { db } = context.store;
  const since = new Date(sinceMs).toISOString();
  const asked = { createdAfter: since, page, pageSize: PAGE_SIZE };
  const shown = await context.clientOf(profile).payments.list(asked);
  // Where the service doesn't keep the filter, age ends the list.
  const newer = shown.items.filter(({ createdAt }) => !(Date.parse(createdAt ?? "") < sinceMs));
  const isLast = shown.items.length === 0 || newer.length < shown.items.length;
  const made = await madeHere(db, businessId, newer);
  const loss = await lossNoticed(db, businessId);
  const unknown = newer.flatMap(({ id, payableId }) => (made.has(id) ? [] : (payableId ?? [])));
  const open = await openSubjects(db, businessId, unknown);
  const bills = newer.flatMap(({ payableId }) => payableId ?? []);
  const vendors = newer.flatMap(({ contactId }) => contactId ?? []);
  const billNames = await namesOf(db, businessId, "bill", bills);
  const vendorNames = await namesOf(db, businessId, "vendor", vendors);
  const items = newer.map((payment) => {
    const { id, createdAt, status, amountCents, contactId, payableId, failureReason } = payment;
    const onRecord = made.has(id);
    const bill = billNames.get(payableId ?? "");
    return {
      ...{ id, createdAt, status, amountCents, contactId, payableId, failureReason, onRecord },
      contactName: vendorNames.get(contactId ?? "")?.name ?? bill?.name ?? null,
      publicId: bill?.number ?? null,
      mayBeOurs: !onRecord && mayBeForgotten(loss, payment),
      beingFoundOut: !onRecord && open.has(payableId ?? ""),
    };
  });
  const { totalCount } = shown;
  return { business, since, zone, items, totalCount, nextPage: isLast ? null : page + 1 };
}

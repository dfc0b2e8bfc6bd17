import type { ActionContext } from "../actions/context.ts";
import type { ServicePayments } from "../api/service-payments.ts";
import { answerOrReason, soon, unlessUnknown } from "../actions/names/found.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { NEW_YORK } from "../domain/clock/new-york.ts";
import { madeHere } from "../ledger/forgotten-payments.ts";
import { lossNoticed, mayPredateLoss } from "../store/janitor/behind.ts";
import { openSubjects } from "../store/payables/open-subjects.ts";
import type { Db } from "../store/index.ts";
import type { Name } from "../domain/names.ts";
import { PAGE_SIZE_MAX } from "../payments-api/index.ts";
import { namesOf } from "../store/names/names.ts";

/**
 * Returns a page of the service's payments since an instant, external ones included, and whether
 * the store knows each: what a person compares after a restore.
 */
export async function paymentsSince(
  context: Pick<ActionContext, "store" | "clientOf">,
  profile: BusinessProfile,
  { sinceMs, page }: { readonly sinceMs: number; readonly page: number },
): Promise<ServicePayments> {
  const { businessId, name: business, zone = NEW_YORK } = profile;
  const { db } = context.store;
  const client = context.clientOf(profile);
  const since = new Date(sinceMs).toISOString();
  const query = { createdAfter: since, page, pageSize: PAGE_SIZE_MAX };
  const shown = await client.payments.list(query);
  // If the service ignores the filter, the payments' age ends the list.
  const newer = shown.items.filter(({ createdAt }) => !(Date.parse(createdAt ?? "") < sinceMs));
  const isLast = shown.items.length === 0 || newer.length < shown.items.length;
  const made = await madeHere(db, businessId, newer);
  const loss = await lossNoticed(db, businessId);
  const unknown = newer.flatMap(({ id, payableId }) => (made.has(id) ? [] : (payableId ?? [])));
  const open = await openSubjects(db, businessId, unknown);
  const bills = newer.flatMap(({ payableId }) => payableId ?? []);
  const vendors = newer.flatMap(({ contactId }) => contactId ?? []);
  const billNames = await billNamesOf(db, businessId, { client, ids: bills });
  const vendorNames = await namesOf(db, businessId, "vendor", vendors);
  const items = newer.map((payment) => {
    const { id, createdAt, status, amountCents, contactId, payableId, failureReason } = payment;
    const onRecord = made.has(id);
    const bill = billNames.get(payableId ?? "");
    return {
      id,
      createdAt,
      status,
      amountCents,
      contactId,
      payableId,
      failureReason,
      onRecord,
      contactName: vendorNames.get(contactId ?? "")?.name ?? bill?.name ?? null,
      publicId: bill?.number ?? null,
      mayBeOurs: !onRecord && mayPredateLoss(loss, payment),
      beingFoundOut: !onRecord && open.has(payableId ?? ""),
    };
  });
  const { totalCount } = shown;
  return { business, since, zone, items, totalCount, nextPage: isLast ? null : page + 1 };
}

/**
 * Returns the names of bills: from the store, or from the service for bills that no run has
 * planned.
 */
async function billNamesOf(
  db: Db,
  businessId: string,
  { client, ids }: { readonly client: Client; readonly ids: readonly string[] },
): Promise<Map<string, Pick<Name, "number" | "name">>> {
  const kept = await namesOf(db, businessId, "bill", ids);
  const missing = [...new Set(ids)].filter((id) => !kept.has(id));
  return new Map([...kept, ...(await billsCalled(client, missing))]);
}

type Client = ReturnType<ActionContext["clientOf"]>;

/** Bills read at a time; the service has no list by ids. */
const AT_ONCE = 10;

/**
 * Reads the numbers and vendors of bills from the service. The result lacks bills that the service
 * doesn't know, or can't be asked about now.
 */
async function billsCalled(
  { payables }: Pick<Client, "payables">,
  ids: readonly string[],
): Promise<Map<string, { readonly number: string | null; readonly name: string | null }>> {
  const called = new Map<string, { number: string | null; name: string | null }>();
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    const some = ids.slice(start, start + AT_ONCE);
    const read = some.map((id) => unlessUnknown(() => payables.get(id, soon())));
    const { value } = await answerOrReason(() => Promise.all(read));
    if (value === undefined) return called;
    for (const bill of value) {
      if (bill === null) continue;
      called.set(bill.id, {
        number: bill.publicId ?? null,
        name: bill.contact?.displayName ?? null,
      });
    }
  }
  return called;
}

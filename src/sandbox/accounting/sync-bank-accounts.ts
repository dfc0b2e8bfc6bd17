import { bankAccountsOf } from "../bank-accounts/bank-accounts.ts";
import type { SandboxContext } from "../context.ts";
import { bookRecords } from "./books.ts";
import { countResults, type SyncResult } from "./sync-result.ts";
import { linkOf, putLink } from "./tables.ts";

/**
 * Learns the books' bank accounts; one that ends in the same four digits as a verified account of the
 * business belongs to it, unless somebody has mapped it.
 */
export function syncBankAccounts(
  ctx: SandboxContext,
  businessId: string,
  atMs: number,
): SyncResult {
  const own = bankAccountsOf(ctx.db, businessId).filter(({ status }) => status === "verified");
  return countResults(bookRecords(ctx.db, businessId, "bankAccounts"), (account) => {
    const link = linkOf(ctx.db, businessId, "bankAccounts", account.id);
    const synced = JSON.stringify(account);
    const same = own.find(
      ({ account_last4 }) => account_last4 !== null && account_last4 === account.last4,
    );
    const isMapped = link?.is_mapped === 1;
    const serviceId = isMapped ? link.service_id : (same?.id ?? null);
    if (link?.synced === synced && link.service_id === serviceId) return "unchanged";
    putLink(ctx.db, {
      business_id: businessId,
      entity_type: "bankAccounts",
      record_id: account.id,
      service_id: serviceId,
      is_mapped: isMapped ? 1 : 0,
      synced,
      updated_at: atMs,
    });
    return link === undefined ? "created" : "updated";
  });
}

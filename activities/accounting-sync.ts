import type { PlaybookAccounting } from "../src/contracts/playbook.ts";
import { PaymentsApiError, type PaymentsClient } from "../src/payments-api/index.ts";

const DAY_MS = 86_400_000;

/**
 * What is wrong with the books that a plan is made from: the accounting integration has synced
 * longer ago than the playbook allows, or never. Never keeps a plan from being made.
 *
 * @param nowMs business clock
 * @returns one sentence for a person, or null where all is well
 */
export async function accountingWarning(
  client: Pick<PaymentsClient, "accounting">,
  businessId: string,
  { syncedWithinDays }: PlaybookAccounting,
  nowMs: number,
): Promise<string | null> {
  try {
    const { connected, lastSyncedAt } = await client.accounting.getStatus(businessId);
    if (connected === false) return "No accounting integration is connected.";
    const lastMs = Date.parse(lastSyncedAt ?? "");
    if (Number.isNaN(lastMs)) return "The accounting integration has never synced.";
    if (nowMs - lastMs <= syncedWithinDays * DAY_MS) return null;
    const days = Math.floor((nowMs - lastMs) / DAY_MS);
    return `The accounting integration last synced ${days} ${days === 1 ? "day" : "days"} ago (${new Date(lastMs).toISOString()}): bills may be missing or paid elsewhere.`;
  } catch (error) {
    const isOurs = error instanceof PaymentsApiError;
    if (!isOurs) throw error;
    if (error.status === 404) return "No accounting integration is connected.";
    return `Whether the accounting integration has synced can't be read (${error.code}).`;
  }
}

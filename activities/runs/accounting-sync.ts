import { DAY_MS } from "../../src/contracts/durations.ts";
import type { PlaybookAccounting } from "../../src/contracts/playbook.ts";
import { instantOf } from "../../src/domain/clock/instants.ts";
import { PaymentsApiError, type PaymentsClient } from "../../src/payments-api/index.ts";
import { unlessMissing } from "../shared/unless-missing.ts";

type Accounting = Pick<PaymentsClient, "accounting">;

/**
 * Warns about the books that a plan is made from: no accounting integration is connected, it last
 * synced longer ago than the playbook allows, or the service shows no sync. Never keeps a plan from
 * being made.
 *
 * @param nowMs business clock
 * @returns one sentence for a person, or null if all is well
 */
export async function accountingWarning(
  client: Accounting,
  businessId: string,
  { syncedWithinDays }: PlaybookAccounting,
  nowMs: number,
): Promise<string | null> {
  try {
    const lastMs = await lastSyncedMs(client, businessId);
    if (lastMs === "not-connected") return "No accounting integration is connected.";
    if (lastMs === null) {
      return "The service shows no sync of the accounting integration: bills may be missing or paid elsewhere.";
    }
    if (nowMs - lastMs <= syncedWithinDays * DAY_MS) return null;
    const days = Math.floor((nowMs - lastMs) / DAY_MS);
    return `The accounting integration last synced ${days} ${days === 1 ? "day" : "days"} ago (${new Date(lastMs).toISOString()}): bills may be missing or paid elsewhere.`;
  } catch (error) {
    if (!(error instanceof PaymentsApiError)) throw error;
    return `Whether the accounting integration has synced can't be read (${error.code}).`;
  }
}

/**
 * Returns when the integration last synced. The record of its status is not shown (API
 * specification, section 4), so if the status doesn't say, the most recent sync is read.
 *
 * @returns null if the service shows no sync that succeeded
 */
async function lastSyncedMs(
  { accounting }: Accounting,
  businessId: string,
): Promise<number | "not-connected" | null> {
  const status = await unlessMissing(() => accounting.getStatus(businessId));
  if (status === null || status.connected === false) return "not-connected";
  const shownMs = instantOf(status.lastSyncedAt);
  if (shownMs !== null) return shownMs;
  const id =
    status.accountingIntegrationId ??
    (await unlessMissing(() => accounting.list(businessId)))?.[0]?.id;
  if (id === undefined) return null;
  const sync = await unlessMissing(() => accounting.getSyncStatus(businessId, id));
  if (sync === null || (sync.error ?? null) !== null) return null;
  return FAILED.test(sync.status ?? "") ? null : instantOf(sync.finishedAt);
}

const FAILED = /fail|error|cancel|abort/i;

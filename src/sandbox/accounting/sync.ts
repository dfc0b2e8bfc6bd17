import type { DatabaseSync } from "node:sqlite";
import type { SandboxContext } from "../context.ts";
import { ApiError } from "../http/api-error.ts";
import { instantText, isoInstantOrNull, newId } from "../ids.ts";
import { scheduleStep } from "../schedule/scheduled-steps.ts";
import { syncBills } from "./sync-bills.ts";
import { type SyncResult, countResults } from "./sync-result.ts";
import { syncVendors } from "./sync-vendors.ts";
import {
  changeSync,
  type SyncedEntity,
  syncedEntities,
  insertSync,
  integrationById,
  type IntegrationRow,
  latestSync,
  syncById,
  type SyncRow,
  linkOf,
  putLink,
} from "./tables.ts";
import { bankAccountsOf } from "../bank-accounts/bank-accounts.ts";
import { bookRecords } from "./books.ts";

/** How long the accounting system takes for each entity type, on the bank clock. */
const syncMs = 2_000;

/**
 * Starts a sync of one entity type or of all.
 *
 * @throws {ApiError} 409 `accounting_not_connected` or `sync_in_progress`.
 */
export function startSync(
  ctx: SandboxContext,
  integration: IntegrationRow,
  types: readonly SyncedEntity[],
): SyncRow {
  requireConnected(integration);
  const latest = latestSync(ctx.db, integration.id);
  if (latest?.status === "running") {
    throw new ApiError(409, "sync_in_progress", "A sync of this integration is running", {
      syncId: latest.id,
    });
  }
  const nowMs = ctx.clock.bankNow();
  const sync: SyncRow = {
    id: newId("sync"),
    integration_id: integration.id,
    entity_types: JSON.stringify(types),
    status: "running",
    results: null,
    error: null,
    started_at: nowMs,
    finished_at: null,
  };
  insertSync(ctx.db, sync);
  scheduleStep(ctx.db, "accounting-sync-ends", sync.id, nowMs + syncMs * types.length);
  return sync;
}

/** @throws {ApiError} 409 `accounting_not_connected`. */
export function requireConnected(integration: IntegrationRow): void {
  if (integration.status === "connected") return;
  throw new ApiError(
    409,
    "accounting_not_connected",
    `The accounting integration is ${integration.status}`,
    { status: integration.status },
  );
}

const syncers: Readonly<
  Record<SyncedEntity, (ctx: SandboxContext, businessId: string, atMs: number) => SyncResult>
> = { vendors: syncVendors, bankAccounts: syncBankAccounts, invoices: syncBills };

/** Syncs what the accounting system has; this is the step that ends a sync. */
export function finishSync(ctx: SandboxContext, syncId: string, atMs: number): void {
  const sync = syncById(ctx.db, syncId);
  if (sync?.status !== "running") return;
  const integration = integrationById(ctx.db, sync.integration_id);
  if (integration === undefined) return;
  const types = JSON.parse(sync.entity_types) as SyncedEntity[];
  // Vendors first, whatever was requested: bills belong to them.
  const results = syncedEntities
    .filter((type) => types.includes(type))
    .map((type) => [type, syncers[type](ctx, integration.business_id, atMs)]);
  changeSync(ctx.db, sync.id, {
    status: "succeeded",
    results: JSON.stringify(Object.fromEntries(results)),
    finished_at: atMs,
  });
}

/** Ends a running sync as failed, because the connection has been taken away. */
export function abandonSync(db: DatabaseSync, integrationId: string, atMs: number): void {
  const sync = latestSync(db, integrationId);
  if (sync?.status !== "running") return;
  const error = "The accounting integration was disconnected";
  changeSync(db, sync.id, { status: "failed", error, finished_at: atMs });
}

/** Returns a sync as the API shows it; before the first one it is `not_started`. */
export function syncJson(sync: SyncRow | undefined): Record<string, unknown> {
  return {
    id: sync?.id ?? null,
    status: sync?.status ?? "not_started",
    entityTypes: sync === undefined ? [] : JSON.parse(sync.entity_types),
    results: sync?.results === undefined || sync.results === null ? {} : JSON.parse(sync.results),
    error: sync?.error ?? null,
    startedAt: sync === undefined ? null : instantText(sync.started_at),
    finishedAt: isoInstantOrNull(sync?.finished_at ?? null),
  };
}

/**
 * Syncs the books' bank accounts. An account that ends in the same four digits as a verified
 * account of the business belongs to it, unless a person has mapped it.
 */
function syncBankAccounts(ctx: SandboxContext, businessId: string, atMs: number): SyncResult {
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

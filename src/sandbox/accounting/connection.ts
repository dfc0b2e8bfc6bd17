import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { bankAccountsOf } from "../bank-accounts/bank-accounts.ts";
import type { SandboxContext } from "../context.ts";
import { ApiError, objectNotFound } from "../http/api-error.ts";
import { isoInstantOrNull, newId } from "../ids.ts";
import { openBooks } from "./books.ts";
import { abandonSync } from "./sync.ts";
import {
  changeIntegration,
  insertIntegration,
  integrationOfBusiness,
  type IntegrationRow,
  latestSync,
} from "./tables.ts";

const provider = "simulated-books";
const authorizationPage = "https://accounting.payments.example/oauth2/authorize";

/**
 * Starts OAuth. A flow that was started before and not ended becomes void.
 *
 * @returns the page to which to send the user.
 * @throws {ApiError} 409 `accounting_already_connected`.
 */
export function startConnection(
  ctx: SandboxContext,
  businessId: string,
  redirectUri: string,
): { authorizationUrl: string; accountingIntegrationId: string } {
  const existing = integrationOfBusiness(ctx.db, businessId);
  if (existing?.status === "connected") {
    throw new ApiError(
      409,
      "accounting_already_connected",
      "The business is connected; disconnect first",
      { accountingIntegrationId: existing.id },
    );
  }
  const oauth_state = randomBytes(18).toString("base64url");
  const pending = { status: "pending", oauth_state, redirect_uri: redirectUri } as const;
  const id = existing?.id ?? newId("acct");
  if (existing !== undefined) changeIntegration(ctx.db, id, pending);
  else {
    insertIntegration(ctx.db, {
      ...pending,
      id,
      business_id: businessId,
      connected_at: null,
      disconnected_at: null,
      created_at: ctx.clock.bankNow(),
    });
  }
  const query = new URLSearchParams({
    response_type: "code",
    client_id: "payments-service",
    redirect_uri: redirectUri,
    scope: "vendors bank-accounts bills",
    state: oauth_state,
  });
  return {
    authorizationUrl: `${authorizationPage}?${query.toString()}`,
    accountingIntegrationId: id,
  };
}

/**
 * Ends OAuth as the accounting system's user would, by allowing or denying the access.
 *
 * @returns the address to which the user's browser goes from there.
 * @throws {ApiError} 404 if no flow was started.
 */
export function endAuthorization(
  ctx: SandboxContext,
  businessId: string,
  decision: "allow" | "deny",
): string {
  const integration = integrationOfBusiness(ctx.db, businessId);
  if (integration?.status !== "pending") throw objectNotFound("Accounting connection in progress");
  const { id, oauth_state, redirect_uri } = integration;
  const nowMs = ctx.clock.bankNow();
  const redirect = new URL(redirect_uri);
  if (oauth_state !== null) redirect.searchParams.set("state", oauth_state);
  if (decision === "deny") {
    changeIntegration(ctx.db, id, {
      status: "disconnected",
      oauth_state: null,
      disconnected_at: nowMs,
    });
    redirect.searchParams.set("error", "access_denied");
    return redirect.href;
  }
  changeIntegration(ctx.db, id, {
    status: "connected",
    oauth_state: null,
    connected_at: nowMs,
    disconnected_at: null,
  });
  const accounts = bankAccountsOf(ctx.db, businessId);
  const main = accounts.find(({ is_default }) => is_default === 1);
  openBooks(ctx.db, businessId, nowMs, main?.account_last4 ?? null);
  redirect.searchParams.set("code", randomBytes(18).toString("base64url"));
  return redirect.href;
}

/**
 * Disconnects the accounting system, which stops future syncs and one that is running; what has
 * been synced stays.
 */
export function disconnect(ctx: SandboxContext, businessId: string): void {
  const integration = integrationOfBusiness(ctx.db, businessId);
  if (integration === undefined || integration.status === "disconnected") {
    throw objectNotFound("Accounting connection");
  }
  const nowMs = ctx.clock.bankNow();
  abandonSync(ctx.db, integration.id, nowMs);
  changeIntegration(ctx.db, integration.id, {
    status: "disconnected",
    oauth_state: null,
    disconnected_at: nowMs,
  });
}

/** Returns an integration as the API shows it. */
export function integrationJson(db: DatabaseSync, row: IntegrationRow): Record<string, unknown> {
  const sync = latestSync(db, row.id);
  return {
    id: row.id,
    businessId: row.business_id,
    provider,
    status: row.status,
    connectedAt: isoInstantOrNull(row.connected_at),
    disconnectedAt: isoInstantOrNull(row.disconnected_at),
    lastSyncedAt: isoInstantOrNull(sync?.finished_at ?? null),
    createdAt: new Date(row.created_at).toISOString(),
  };
}

/** Returns the connection of a business that may have none. */
export function connectionJson(
  db: DatabaseSync,
  row: IntegrationRow | undefined,
): Record<string, unknown> {
  const shown = row === undefined ? undefined : integrationJson(db, row);
  return {
    connected: row?.status === "connected",
    status: row?.status ?? "not_connected",
    accountingIntegrationId: row?.id ?? null,
    provider: row === undefined ? null : provider,
    connectedAt: shown?.["connectedAt"] ?? null,
    disconnectedAt: shown?.["disconnectedAt"] ?? null,
    lastSyncedAt: shown?.["lastSyncedAt"] ?? null,
  };
}

import { z } from "zod";
import { ownBusiness } from "../businesses/own-business.ts";
import { invalid } from "../http/api-error.ts";
import { defineOperation, type ServiceOperation } from "../http/operation.ts";
import { listShape } from "../http/shapes.ts";
import { connectionJson, disconnect, integrationJson, startConnection } from "./connection.ts";
import { mappingOperations } from "./mapping-operations.ts";
import { accountingPath, ownIntegration } from "./own-integration.ts";
import { connectionShape, connectShape, integrationShape, syncShape } from "./shapes.ts";
import { startSync, syncJson } from "./sync.ts";
import { type SyncedEntity, syncedEntities, integrationOfBusiness, latestSync } from "./tables.ts";

const base = accountingPath;
const reading = ["businesses:read", "businesses:write"];
const writing = ["businesses:write"];

/** Where OAuth may send a user's browser: to an https address, or to this machine. */
const redirectUri = z
  .string()
  .max(2_000)
  .refine((text) => isRedirect(text), {
    error: "must be an https address without a fragment (http only for localhost and 127.0.0.1)",
  });

function isRedirect(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, hash, username } = new URL(text);
  if (hash !== "" || text.endsWith("#") || username !== "") return false;
  const isLocal = hostname === "localhost" || hostname === "127.0.0.1";
  return protocol === "https:" || (protocol === "http:" && isLocal);
}

const listIntegrations = defineOperation({
  name: "listAccountingIntegrations",
  summary: "Lists the business's accounting integrations.",
  description: "A business has at most one; connecting again uses the same.",
  method: "GET",
  path: base,
  scopes: reading,
  idempotency: "none",
  answer: { status: 200, body: listShape(integrationShape) },
  handler: ({ ctx, caller, params }) => {
    const { id } = ownBusiness(ctx, caller, params);
    const integration = integrationOfBusiness(ctx.db, id);
    const items = integration === undefined ? [] : [integrationJson(ctx.db, integration)];
    return { status: 200, body: { items } };
  },
});

const connect = defineOperation({
  name: "connectAccounting",
  summary: "Starts OAuth 2.0 with the accounting system.",
  description:
    "The simulated system's user is `POST /sandbox/accounting/{businessId}/authorize`. Starting " +
    "again makes the last `state` void.",
  method: "POST",
  path: `${base}/connect`,
  scopes: writing,
  idempotency: "refused",
  errors: ["accounting_already_connected"],
  body: z.object({ redirectUri }),
  answer: { status: 200, body: connectShape },
  handler: ({ ctx, caller, params, body }) => {
    const { id } = ownBusiness(ctx, caller, params);
    return { status: 200, body: startConnection(ctx, id, body.redirectUri) };
  },
});

const getConnection = defineOperation({
  name: "getAccountingStatus",
  summary: "Says whether the business is connected to the accounting system.",
  method: "GET",
  path: `${base}/status`,
  scopes: reading,
  idempotency: "none",
  answer: { status: 200, body: connectionShape },
  handler: ({ ctx, caller, params }) => {
    const { id } = ownBusiness(ctx, caller, params);
    return { status: 200, body: connectionJson(ctx.db, integrationOfBusiness(ctx.db, id)) };
  },
});

const disconnectAccounting = defineOperation({
  name: "disconnectAccounting",
  summary: "Stops future syncs; what has been synced is kept.",
  description: "A sync that runs ends as `failed`. Where nothing is connected: 404.",
  method: "DELETE",
  path: `${base}/disconnect`,
  scopes: writing,
  idempotency: "refused",
  errors: ["not_found"],
  answer: { status: 204 },
  handler: ({ ctx, caller, params }) => {
    disconnect(ctx, ownBusiness(ctx, caller, params).id);
    return { status: 204 };
  },
});

const getSync = defineOperation({
  name: "getAccountingSync",
  summary: "Shows the most recent sync.",
  description: "Before the first one its status is `not_started`.",
  method: "GET",
  path: `${base}/{accountingIntegrationId}/sync/status`,
  scopes: reading,
  idempotency: "none",
  answer: { status: 200, body: syncShape },
  handler: ({ ctx, caller, params }) => {
    const { id } = ownIntegration(ctx, caller, params);
    return { status: 200, body: syncJson(latestSync(ctx.db, id)) };
  },
});

const syncAll = defineOperation({
  name: "syncAccounting",
  summary: "Starts a full sync of all entity types.",
  description:
    "It takes two seconds of bank time for each entity type. Vendors become contacts, open bills " +
    "become payables in `draft`; again, nothing comes twice.",
  method: "POST",
  path: `${base}/{accountingIntegrationId}/sync`,
  scopes: writing,
  idempotency: "refused",
  errors: ["accounting_not_connected", "sync_in_progress"],
  answer: { status: 201, body: syncShape },
  handler: ({ ctx, caller, params }) => {
    const integration = ownIntegration(ctx, caller, params);
    return { status: 201, body: syncJson(startSync(ctx, integration, syncedEntities)) };
  },
});

const syncOne = defineOperation({
  name: "syncAccountingEntity",
  summary: "Starts a sync of one entity type: vendors, bankAccounts or invoices.",
  description: "Bills bring their vendors along. Another entity type is 422.",
  method: "POST",
  path: `${base}/{accountingIntegrationId}/sync/{entityType}`,
  scopes: writing,
  idempotency: "refused",
  errors: ["validation_error", "accounting_not_connected", "sync_in_progress"],
  answer: { status: 201, body: syncShape },
  handler: ({ ctx, caller, params }) => {
    const integration = ownIntegration(ctx, caller, params);
    const entityType = params["entityType"] ?? "";
    if (!isEntityType(entityType)) {
      throw invalid("entityType", `entityType must be one of ${syncedEntities.join(", ")}`);
    }
    return { status: 201, body: syncJson(startSync(ctx, integration, [entityType])) };
  },
});

function isEntityType(text: string): text is SyncedEntity {
  return syncedEntities.some((type) => type === text);
}

export const accountingOperations: readonly ServiceOperation[] = [
  listIntegrations,
  connect,
  getConnection,
  disconnectAccounting,
  getSync,
  syncAll,
  syncOne,
  ...mappingOperations,
];

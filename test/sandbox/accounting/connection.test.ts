import { expect } from "vitest";
import type { TestSandbox } from "../../support/sandbox.ts";
import { controlPost } from "../bank-accounts/accounts.ts";
import { sandboxTest } from "../sandbox-test.ts";
import { Accounting, redirectUri } from "./books.ts";

const it = sandboxTest("two-businesses").extend(
  "accounting",
  ({ sandbox }) => new Accounting(sandbox),
);

const authorize = (sandbox: TestSandbox, accounting: Accounting, body = {}) =>
  controlPost(sandbox, `/accounting/${accounting.businessId}/authorize`, body);

it("a business has no accounting integration at first", async ({ accounting }) => {
  expect((await accounting.get()).body).toEqual({ items: [] });
  expect((await accounting.get("/status")).body).toEqual({
    connected: false,
    status: "not_connected",
    accountingIntegrationId: null,
    provider: null,
    connectedAt: null,
    disconnectedAt: null,
    lastSyncedAt: null,
  });
});

it("connecting sends the user to OAuth and back to the redirectUri with the same state", async ({
  sandbox,
  accounting,
}) => {
  const { status, body } = await accounting.post("/connect", { redirectUri });
  expect(status).toBe(200);
  const page = new URL(String(body["authorizationUrl"]));
  expect(page.searchParams.get("response_type")).toBe("code");
  expect(page.searchParams.get("redirect_uri")).toBe(redirectUri);
  const state = page.searchParams.get("state");
  expect(state).toMatch(/^[\w-]{20,}$/);
  expect((await accounting.get("/status")).body).toMatchObject({
    connected: false,
    status: "pending",
  });
  const ended = await authorize(sandbox, accounting);
  const back = new URL(String(ended["redirectUrl"]));
  expect(back.origin).toBe("https://app.customer.example");
  expect(back.searchParams.get("from")).toBe("payments");
  expect(back.searchParams.get("state")).toBe(state);
  expect(back.searchParams.get("code")).toBeTruthy();
  expect((await accounting.get("/status")).body).toMatchObject({
    connected: true,
    status: "connected",
    accountingIntegrationId: body["accountingIntegrationId"],
    connectedAt: expect.any(String),
  });
  expect((await accounting.get<{ items: unknown[] }>()).body.items).toEqual([
    expect.objectContaining({
      id: body["accountingIntegrationId"],
      businessId: accounting.businessId,
      status: "connected",
    }),
  ]);
});

it("a business is not connected if the user denies the access", async ({ sandbox, accounting }) => {
  await accounting.post("/connect", { redirectUri });
  const ended = await authorize(sandbox, accounting, { decision: "deny" });
  expect(String(ended["redirectUrl"])).toContain("error=access_denied");
  expect((await accounting.get("/status")).body).toMatchObject({ connected: false });
  await expect(authorize(sandbox, accounting)).rejects.toThrow("404");
});

it("connecting twice, or authorizing before connecting, is refused", async ({
  sandbox,
  accounting,
}) => {
  await expect(authorize(sandbox, accounting)).rejects.toThrow("404");
  await accounting.connect();
  const again = await accounting.post("/connect", { redirectUri });
  expect(again.status).toBe(409);
  expect(again.body).toMatchObject({
    error: "accounting_already_connected",
    details: { accountingIntegrationId: accounting.id },
  });
});

it.for([
  [undefined, 400],
  [17, 400],
  ["nowhere", 422],
  ["http://app.customer.example/", 422],
  ["javascript:alert(1)", 422],
  ["https://app.customer.example/#fragment", 422],
])("the redirectUri %s is refused", async ([uri, status], { accounting }) => {
  const answer = await accounting.post("/connect", { redirectUri: uri });
  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject({
    error: "validation_error",
    details: { field: "redirectUri" },
  });
});

it("a redirectUri on this machine may use http", async ({ accounting }) => {
  const body = { redirectUri: "http://localhost:3000/done" };
  expect((await accounting.post("/connect", body)).status).toBe(200);
});

it("disconnecting fails the running sync, allows no more, and keeps what was synced", async ({
  sandbox,
  accounting,
}) => {
  await accounting.connect();
  await accounting.sync("vendors");
  await accounting.post(`/${accounting.id}/sync`);
  const answer = await sandbox.api("DELETE", accounting.path("/disconnect"));
  expect([answer.status, answer.text]).toEqual([204, ""]);
  expect((await accounting.get("/status")).body).toMatchObject({
    connected: false,
    status: "disconnected",
    disconnectedAt: expect.any(String),
  });
  await sandbox.control.advance("PT1M");
  expect((await accounting.get(`/${accounting.id}/sync/status`)).body).toMatchObject({
    status: "failed",
    error: expect.stringContaining("disconnected"),
  });
  const sync = await accounting.post(`/${accounting.id}/sync`);
  expect(sync.status).toBe(409);
  expect(sync.body).toMatchObject({
    error: "accounting_not_connected",
    details: { status: "disconnected" },
  });
  expect((await sandbox.api("DELETE", accounting.path("/disconnect"))).status).toBe(404);
  const contacts = await sandbox.api<{ totalCount: number }>("GET", "/v1/contacts");
  expect(contacts.body.totalCount).toBe(5);
});

it("connecting again keeps the id and goes on from what was synced", async ({
  sandbox,
  accounting,
}) => {
  await accounting.connect();
  await accounting.sync();
  const { id } = accounting;
  await sandbox.api("DELETE", accounting.path("/disconnect"));
  await accounting.connect();
  expect(accounting.id).toBe(id);
  expect(await accounting.sync()).toMatchObject({
    vendors: { created: 0, unchanged: 5 },
    invoices: { created: 0, unchanged: 6 },
  });
});

it("another organization's integration returns 404", async ({ sandbox, accounting }) => {
  await accounting.connect();
  const token = sandbox.businesses[1]?.token ?? "";
  const other = sandbox.businesses[1]?.businessId ?? "";
  const at = (businessId: string, rest: string) =>
    `/api/businesses/${businessId}/integrations/accounting${rest}`;
  for (const [method, path] of [
    ["GET", accounting.path()],
    ["GET", accounting.path("/status")],
    ["DELETE", accounting.path("/disconnect")],
    ["GET", accounting.path(`/${accounting.id}/sync/status`)],
    ["POST", accounting.path(`/${accounting.id}/sync`)],
    ["GET", at(other, `/${accounting.id}/sync/status`)],
    ["POST", at(other, `/${accounting.id}/sync/vendors`)],
    ["GET", at(other, `/${accounting.id}/invoice-fields`)],
    ["GET", at("biz_none", "/status")],
  ] as const) {
    expect((await sandbox.api(method, path, { token })).status, `${method} ${path}`).toBe(404);
  }
});

it("connecting needs businesses:write, and reading the status businesses:read", async ({
  sandbox,
  accounting,
}) => {
  const token = await sandbox.control.token(undefined, { scopes: ["businesses:read"] });
  const path = accounting.path("/status");
  expect((await sandbox.api("GET", path, { token })).status).toBe(200);
  const body = { redirectUri };
  const refused = await sandbox.api("POST", accounting.path("/connect"), { token, body });
  expect(refused.status).toBe(403);
});

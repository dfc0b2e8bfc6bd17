import { describe, expect, type TestContext } from "vitest";
import type { Business } from "../../src/payments-api/index.ts";
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import { onSandbox, reads } from "./sentences.ts";
import { contractWorld } from "./world.ts";

const world = contractWorld();

/**
 * Skips if the token may not, since the specification does not say which scopes these calls need.
 */
async function allowed<T>(call: Promise<T>, { skip }: Pick<TestContext, "skip">): Promise<T> {
  return call.catch((error: unknown) => {
    if (error instanceof PaymentsApiError && error.status === 403) skip("the token may not");
    throw error;
  });
}

async function first(context: Pick<TestContext, "skip">): Promise<Business> {
  const [business] = await allowed(world.client.businesses.list(), context);
  return business ?? context.skip("the account has no business");
}

describe("businesses, verification, officers, accounting (API specification, section 4)", () => {
  reads(
    "GET /api/businesses lists what GET /api/businesses/{businessId} shows",
    async (context) => {
      const { id } = await first(context);
      expect((await allowed(world.client.businesses.get(id), context)).id).toBe(id);
    },
  );

  reads("an unknown business answers 404", async (context) => {
    await first(context);
    const { status, body } = await world.api("GET", "/api/businesses/nobody");
    expect({ status, error: body["error"] }).toEqual({ status: 404, error: "not_found" });
  });

  reads("tax/detailed says one of the documented verification statuses", async (context) => {
    const { id } = await first(context);
    const { status } = await allowed(world.client.verification.get(id), context);
    expect(["pending", "verified", "suspended", "document"]).toContain(status);
  });

  reads("officers and accounting integrations can be read by the client", async (context) => {
    const { id } = await first(context);
    const { officers, accounting } = world.client;
    expect(await allowed(officers.list(id), context)).toBeInstanceOf(Array);
    expect(await allowed(accounting.list(id), context)).toBeInstanceOf(Array);
  });

  reads("an officer without its required fields is refused", async (context) => {
    const { id } = await first(context);
    const { status } = await world.api("POST", `/api/businesses/${id}/officers`, { body: {} });
    if (status === 403) context.skip("the token may not");
    expect([400, 422]).toContain(status);
  });

  reads("a verification document without a file is refused", async (context) => {
    const { id } = await first(context);
    const path = `/api/businesses/${id}/tax/upload-verification-documents`;
    const { status } = await world.api("POST", path, { body: { documentType: "einLetter" } });
    if (status === 403) context.skip("the token may not");
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });

  onSandbox(
    "connecting the accounting system answers an authorizationUrl, and syncs follow",
    async () => {
      const { businessId } = world.sandbox.business;
      const { accounting } = world.client;
      const { authorizationUrl } = await accounting.connect(businessId, "https://app.test/done");
      expect(URL.canParse(authorizationUrl)).toBe(true);
      const authorize = `/sandbox/accounting/${businessId}/authorize`;
      expect((await world.api("POST", authorize, { body: {} })).status).toBeLessThan(300);
      const [integration] = await accounting.list(businessId);
      const started = await accounting.sync(businessId, integration?.id ?? "");
      expect(started?.status).not.toBe("failed");
      await world.sandbox.control.advance("PT10M");
      const synced = await accounting.getSyncStatus(businessId, integration?.id ?? "");
      expect(synced.status).toBe("succeeded");
      expect(await accounting.listInvoiceFields(businessId, integration?.id ?? "")).not.toEqual([]);
      await accounting.disconnect(businessId);
      expect((await accounting.getStatus(businessId)).connected).toBe(false);
    },
  );

  onSandbox("withdraw-balance takes dollars, not above the available balance", async () => {
    const { businessId } = world.sandbox.business;
    const { businesses } = world.client;
    const withdrawal = { amountDollars: 12.34, fundingSourceId: "linked_bank" };
    expect(await businesses.withdrawBalance(businessId, withdrawal)).toMatchObject({
      amountCents: 12_34,
    });
    const tooMuch = businesses.withdrawBalance(businessId, { ...withdrawal, amountDollars: 9e6 });
    await expect(tooMuch).rejects.toMatchObject({ code: "insufficient_balance" });
    const { availableCents } = await businesses.getBalance(businessId);
    expect(availableCents).toBe(1_000_000_00 - 12_34);
  });
});

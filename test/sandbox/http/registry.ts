import type { ServiceOperation } from "../../../src/sandbox/http/operation.ts";
import { bodyExamples } from "../../../src/sandbox/openapi/examples.ts";
import type { TestSandbox } from "../../support/sandbox.ts";
import { makeBill, makeVendor, unique } from "../world.ts";

export type Ids = Readonly<Record<string, string>>;

/** Returns the names of the parameters in an operation's path. */
export function paramsOf({ path }: ServiceOperation): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => String(name));
}

/** Returns an operation's path with its parameters filled in. */
export function pathOf({ path }: ServiceOperation, ids: Ids): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? `no-such-${name}`);
}

/** Returns a body that the operation's schema accepts, and its headers, as fetch takes them. */
export function validBody(operation: ServiceOperation): Pick<RequestInit, "body" | "headers"> {
  if (operation.bodySchema === undefined) return {};
  const example = bodyExamples[operation.name];
  if (operation.bodyKind !== "multipart") {
    return { body: JSON.stringify(example), headers: { "content-type": "application/json" } };
  }
  const form = new FormData();
  const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
  form.append("file", new Blob([png], { type: "image/png" }), "file.png");
  form.append("documentType", "einLetter");
  return { body: form };
}

/**
 * Creates one resource of each kind for the first business.
 * @returns their ids by the names of their path parameters
 */
export async function makeIds(sandbox: TestSandbox): Promise<Ids> {
  const { businessId } = sandbox.business;
  const idOf = async (method: string, path: string, body?: object) => {
    const answer = await sandbox.api<{ id: string }>(method, path, {
      ...(body !== undefined && { body }),
      ...(path !== "/v1/webhook-endpoints" && { key: unique("key") }),
    });
    if (answer.status !== 201) throw new Error(`${method} ${path}: ${answer.text}`);
    return answer.body;
  };
  const endpoint = await idOf("POST", "/v1/webhook-endpoints", { url: "http://127.0.0.1:9/hook" });
  const contactId = await makeVendor(sandbox);
  const payableId = await makeBill(sandbox, { contactId });
  const paid = (await idOf("POST", "/v1/payments", {
    payableId,
    fundingSource: "balance",
  })) as unknown as { payments: { id: string }[] };
  const deliveries = await sandbox.api<{ items: { id: string }[] }>(
    "GET",
    `/v1/webhook-endpoints/${endpoint.id}/deliveries`,
  );
  const invoice = await idOf("POST", "/v1/invoices", {
    customerId: contactId,
    totalAmountCents: 5_000,
  });
  const connected = await sandbox.api<{ accountingIntegrationId: string }>(
    "POST",
    `/api/businesses/${businessId}/integrations/accounting/connect`,
    { body: { redirectUri: "https://app.customer.example/" } },
  );
  const accounts = await sandbox.api<{ items: { id: string }[] }>("GET", "/v1/bank-accounts");
  return {
    businessId,
    contactId,
    payableId,
    paymentId: paid.payments[0]?.id ?? "",
    bankAccountId: accounts.body.items[0]?.id ?? "",
    fundingSourceId: accounts.body.items[0]?.id ?? "",
    webhookEndpointId: endpoint.id,
    deliveryId: deliveries.body.items[0]?.id ?? "",
    invoiceId: invoice.id,
    accountingIntegrationId: connected.body.accountingIntegrationId,
    entityType: "vendors",
  };
}

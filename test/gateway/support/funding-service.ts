import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** Returns the address of a service without funding sources, which ends with the test. */
export function serviceWithoutSources(): Promise<string> {
  return listening((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end('{"items":[]}');
  });
}

/** Returns the address of a service with this balance at each read, which ends with the test. */
export function serviceWithBalance(availableCents: () => number): Promise<string> {
  return listening(({ url = "" }, response) => {
    const balance = { id: "balance", rail: "SERVICE", kind: "balance", name: "Balance" };
    const source = { ...balance, availableCents: availableCents(), isDefault: true, canPay: true };
    const items = url.startsWith("/v1/funding-sources") ? [source] : [];
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ items }));
  });
}

/** Returns the address of a service whose bills of $100 have these payments; ends with the test. */
export function serviceWithPayments(payments: readonly object[]): Promise<string> {
  return listening(({ url = "" }, response) => {
    const items = url.startsWith("/v1/payments") ? payments : [];
    const [, payableId] = /^\/v1\/payables\/(\w+)$/.exec(url) ?? [];
    const bill = { id: payableId, publicId: null, status: "approved", paymentStatus: "none" };
    const amounts = { totalAmountCents: 10_000, amountPaidCents: 0, remainingAmountCents: 10_000 };
    const answer =
      payableId === undefined
        ? { items, totalCount: items.length }
        : { ...bill, ...amounts, dueDate: null, contact: null, items: [] };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  });
}

/**
 * Returns the address of a service that shows these bank accounts and funding sources at each read,
 * which ends with the test.
 *
 * @param shown undefined while the service fails
 */
export function serviceWithAccounts(
  shown: () =>
    | { readonly accounts: readonly unknown[]; readonly sources: readonly unknown[] }
    | undefined,
): Promise<string> {
  return listening(({ url = "" }, response) => {
    const now = shown();
    const items = url.startsWith("/v1/bank-accounts") ? now?.accounts : now?.sources;
    response.writeHead(now === undefined ? 501 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(now === undefined ? {} : { items }));
  });
}

/** Returns the address of a service that answers no request, which ends with the test. */
export function silentService(): Promise<string> {
  return listening(() => {});
}

async function listening(answers: RequestListener): Promise<string> {
  const service = createServer(answers);
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    service.closeAllConnections();
    service.close();
  });
  return `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
}

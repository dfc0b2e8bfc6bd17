import { expect } from "vitest";
import type { CancellationStatus } from "../../src/api/cancellations.ts";
import { bankDate, type Bill, bills } from "./bills.ts";
import type { TestPayrun } from "./payrun.ts";
import type { Json } from "./sandbox.ts";
import type { ServicePayment } from "./scene.ts";
import { until } from "./waits.ts";

const BALANCE = { paymentRail: "SERVICE", fundingSource: "balance" };

/** Creates a bill for which a party outside Payrun has scheduled a payment at the service. */
export async function scheduledBill(
  payrun: TestPayrun,
  amountCents: number,
  more: Json = {},
): Promise<{ readonly bill: Bill; readonly paymentId: string }> {
  const [bill] = await bills(payrun.sandbox, [amountCents]);
  if (bill === undefined) throw new Error("no bill");
  const [payment] = await pay(payrun, bill, more);
  if (payment === undefined) throw new Error("no payment");
  return { bill, paymentId: payment.id };
}

/** Pays a bill at the service as a party outside Payrun would; scheduled by default. */
export async function pay(
  payrun: TestPayrun,
  bill: Bill,
  more: Json = {},
): Promise<ServicePayment[]> {
  const scheduledAt = await bankDate(payrun.sandbox, 3);
  const { status, body, text } = await payrun.sandbox.api<{ payments: ServicePayment[] }>(
    "POST",
    "/v1/payments",
    {
      key: crypto.randomUUID(),
      body: { payableId: bill.id, ...BALANCE, scheduledAt, ...more },
    },
  );
  if (status !== 201) throw new Error(`pay: ${status} ${text}`);
  return body.payments;
}

/** Requests that payments be cancelled, and returns the request's id. */
export async function askToCancel(
  payrun: TestPayrun,
  payments: readonly string[],
  reason = "wrong amount",
): Promise<string> {
  const answer = await payrun.call<CancellationStatus>("operator", "POST", "/v1/cancellations", {
    payments,
    reason,
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.id;
}

export async function cancellation(payrun: TestPayrun, id: string): Promise<CancellationStatus> {
  const path = `/v1/runs/${encodeURIComponent(id)}`;
  const { status, body } = await payrun.call<CancellationStatus>("operator", "GET", path);
  if (status !== 200) throw new Error(`status of ${id}: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** Waits until a cancellation is as wanted; fails with its last state. */
export async function untilCancellation(
  payrun: TestPayrun,
  id: string,
  what: string,
  isSo: (now: CancellationStatus) => boolean,
  timeoutMs = 180_000,
): Promise<CancellationStatus> {
  // A cancellation that holds bills of a run back appears a moment after the run's plan.
  const read = (): Promise<CancellationStatus | Error> =>
    cancellation(payrun, id).catch((error: Error) => error);
  const isWanted = (now: CancellationStatus | Error): now is CancellationStatus =>
    !(now instanceof Error) && isSo(now);
  const failure = async (now: CancellationStatus | Error): Promise<string> => {
    const seen = now instanceof Error ? now.message : JSON.stringify(now, null, 1);
    return `${id} is not ${what} in time: ${seen}\n${await payrun.logs()}`;
  };
  return until(read, isWanted, { timeoutMs, intervalMs: 150, failure });
}

export function hasEnded({ endedAt }: CancellationStatus): boolean {
  return endedAt !== null;
}

/** Returns what the service shows of a payment. */
export async function paymentNow(payrun: TestPayrun, id: string): Promise<ServicePayment> {
  const { body } = await payrun.sandbox.api<ServicePayment>("GET", `/v1/payments/${id}`);
  return body;
}

/** Returns the keys of the cancels that the service has received for a payment, in order. */
export async function cancelKeys(
  payrun: TestPayrun,
  paymentId: string,
): Promise<(string | null)[]> {
  const requests = await payrun.sandbox.control.requests();
  return requests
    .filter(({ method, path }) => method === "POST" && path === `/v1/payments/${paymentId}/cancel`)
    .map(({ key }) => key);
}

/** Steps the bank clock to a time in New York on a date. */
export async function bankClockTo(payrun: TestPayrun, date: string, time: string): Promise<void> {
  const { newYorkInstantMs } = await import("../../src/domain/clock/new-york.ts");
  await payrun.sandbox.control.setClock(new Date(newYorkInstantMs(date, time)).toISOString());
}

/** Creates a payment that the bank holds for review, with the bank account already debited. */
export async function heldByProvider(
  payrun: TestPayrun,
  amountCents: number,
): Promise<{ readonly bill: Bill; readonly paymentId: string }> {
  const [bill] = await bills(payrun.sandbox, [amountCents]);
  if (bill === undefined) throw new Error("no bill");
  const { control } = payrun.sandbox;
  await control.outcome({ match: { payableId: bill.id }, outcome: "hold" });
  const banks = await payrun.sandbox.api<{ items: { id: string }[] }>("GET", "/v1/bank-accounts");
  const answer = await payrun.sandbox.api<{ payments: { id: string }[] }>("POST", "/v1/payments", {
    key: crypto.randomUUID(),
    body: {
      payableId: bill.id,
      bankAccountId: banks.body.items[0]?.id,
      paymentRail: "PROVIDER",
      achAuthorizationAccepted: true,
    },
  });
  await control.advance("PT1M");
  return { bill, paymentId: answer.body.payments[0]?.id ?? "" };
}

import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { RunPaymentStatus, RunStatus } from "../../src/api/runs.ts";
import { bills, type Bill } from "./bills.ts";
import type { TestPayrun } from "./payrun.ts";
import { type Json, netCreditByPayable } from "./sandbox.ts";

/** Settings of a scene's playbook; every scene pays only the bills of its own name. */
export interface SceneOptions {
  readonly pay?: string;
  readonly late?: string;
  readonly approve?: readonly string[];
  /** Additional lines of the playbook, such as `limits: { bill: $50 }`. */
  readonly more?: readonly string[];
  /** Fields of the bills. */
  readonly bill?: Json;
}

export interface Scene {
  readonly runId: string;
  readonly made: Bill[];
}

/** Returns a playbook that pays only the bills described by `name`. */
export function scenePlaybook(name: string, options: SceneOptions = {}): string {
  return [
    "kind: pay-run",
    "select: { due: all }",
    `where: 'payable.description == "${name}"'`,
    `pay: ${options.pay ?? "{ on: next-business-day }"}`,
    "review: []",
    "approve:",
    ...(options.approve ?? ["{ by: [controller, owner] }"]).map((rule) => `  - ${rule}`),
    `late: ${options.late ?? "next-business-day"}`,
    ...(options.more ?? []),
    "",
  ].join("\n");
}

/**
 * Creates bills of a name and a run that has planned exactly these, in a stack that others share.
 */
export async function plannedScene(
  payrun: TestPayrun,
  name: string,
  amounts: readonly number[],
  options: SceneOptions = {},
): Promise<Scene> {
  const made = await bills(payrun.sandbox, amounts, { description: name, ...options.bill });
  await payrun.apply(name, scenePlaybook(name, options));
  const runId = await payrun.launch(name);
  await payrun.until(runId, "planned", ({ phase }) => phase !== "planning");
  return { runId, made };
}

const ENDED = ["completed", "completed-with-exceptions", "cancelled", "rejected", "expired"];

const UNSENT = ["awaiting-approval", "planned", "on-hold", "paying", "unknown"] as const;

/**
 * Lets the bank's days pass quickly until the run has ended; more quickly once everything is sent,
 * because each date is fixed by then.
 */
export async function ended(payrun: TestPayrun, runId: string): Promise<RunStatus> {
  const { control } = payrun.sandbox;
  const hasEnded = ({ phase }: RunStatus): boolean => ENDED.includes(phase);
  await payrun.until(
    runId,
    "sent",
    (status) => hasEnded(status) || UNSENT.every((state) => (status.counts[state] ?? 0) === 0),
    90_000,
  );
  await control.setScale(172_800);
  const status = await payrun.until(runId, "ended", hasEnded, 90_000);
  await control.setScale(1);
  await clockNoticed();
  return status;
}

/** Waits until every part has read the bank clock again after it was stepped or slowed down. */
export function clockNoticed(): Promise<void> {
  // The parts read it every second, and nothing shows from outside when they have.
  return sleep(1_100);
}

/** Returns the number of the run's bills in each state, without those that its plan left out. */
export function standing({ counts }: RunStatus): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([state]) => state !== "skipped"));
}

/** Returns one bill's line of a run. */
export function lineOf(status: RunStatus, bill: Bill | undefined): RunPaymentStatus {
  const line = status.payments.find(({ payableId }) => payableId === bill?.id);
  if (line === undefined) throw new Error(`${status.id} has no line for ${bill?.id}`);
  return line;
}

export interface ServicePayment {
  readonly id: string;
  readonly status: string;
  readonly amountCents: number;
  readonly scheduledAt: string;
  readonly createdAt: string;
}

/** Returns every payment that the service has for a bill, oldest first. */
export async function paymentsOf(
  payrun: TestPayrun,
  bill: Bill | undefined,
): Promise<ServicePayment[]> {
  const { status, body } = await payrun.sandbox.api<{ items: ServicePayment[] }>(
    "GET",
    `/v1/payments?payableId=${bill?.id}&pageSize=100`,
  );
  if (status !== 200) throw new Error(`GET /v1/payments: ${status}`);
  return body.items.toReversed();
}

/** Waits until the service has this many payments of each of the bills. */
export async function untilEachHasPayments(
  payrun: TestPayrun,
  made: readonly (Bill | undefined)[],
  count: number,
  timeoutMs: number,
): Promise<void> {
  const counts = async (): Promise<number[]> => {
    const payments = await Promise.all(made.map((bill) => paymentsOf(payrun, bill)));
    return payments.map(({ length }) => length);
  };
  await expect.poll(counts, { timeout: timeoutMs }).toEqual(made.map(() => count));
}

/** Expects that the bank moved exactly these net amounts to the vendor of each bill. */
export async function expectBank(
  payrun: TestPayrun,
  expected: readonly (readonly [Bill | undefined, number])[],
): Promise<void> {
  const net = netCreditByPayable(await payrun.sandbox.control.ledger());
  const actual = expected.map(([bill]) => [bill?.id, net.get(bill?.id ?? "") ?? 0]);
  expect(actual).toEqual(expected.map(([bill, cents]) => [bill?.id, cents]));
}

/** Expects that every bill of the run settles, and that the bank has moved each once. */
export async function expectSettledOnce(payrun: TestPayrun, scene: Scene): Promise<void> {
  const done = await ended(payrun, scene.runId);
  expect(standing(done)).toEqual({ settled: scene.made.length });
  await expectBank(
    payrun,
    scene.made.map((bill) => [bill, bill.amountCents]),
  );
}

/** Returns the number of payment requests that the service has received. */
export async function paymentRequests(payrun: TestPayrun): Promise<number> {
  const requests = await payrun.sandbox.control.requests();
  return requests.filter(({ method, path }) => method === "POST" && path === "/v1/payments").length;
}

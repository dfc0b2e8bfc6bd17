import { setTimeout as sleep } from "node:timers/promises";

import { LINE } from "../../contracts/line-states.ts";
import type { RunPaymentStatus, RunStatus } from "../../api/runs.ts";
import { formatUsd } from "../../domain/money.ts";
import { nameOf } from "../show/plan.ts";
import { dim, green, red } from "../terminal/text.ts";
import { pollRun } from "../show/wait-for-run.ts";
import { type Demo, runIdOf } from "./context.ts";

/** The service takes a payment and delays its response this long: time to kill the worker. */
const ANSWER_DELAY_MS = 20_000;

/** The share of webhooks that are lost in transit. */
export const LOST_WEBHOOKS = { lose: 0.2, seed: "demo" } as const;

const POLL_MS = 150;
/** A response that takes longer than this is the delayed one. */
const KEPT_BACK_MS = 700;
/**
 * The worker is killed while this is the only response it waits for: a bill whose response is lost,
 * and whose payment then bounces, is paid again only minutes later. After this time the worker is
 * killed in any case, before the response arrives.
 */
const ALONE_LIMIT_MS = 12_000;
const STAGE_LIMIT_MS = 30_000;
/** After this long with nothing to pay, everything approved has been paid. */
const IDLE_LIMIT_MS = 5_000;
const RECOVERY_LIMIT_MS = 120_000;

/** From now on the service delays one payment's response and loses some webhooks. */
export async function armFaults({ sandbox }: Demo): Promise<void> {
  const delay = { method: "POST", path: "/v1/payments", when: "after", effect: "delay" };
  await sandbox.faults([{ ...delay, delayMs: ANSWER_DELAY_MS, times: 1 }], LOST_WEBHOOKS);
}

/**
 * Waits until the service has taken a payment whose response has not reached the worker, and kills
 * the worker at that moment.
 *
 * @returns false if no such moment came: everything had been paid before
 */
export async function crashWorker(demo: Demo): Promise<boolean> {
  const { narrator, processes, worker } = demo;
  const caught = await paymentWithoutAnswer(demo);
  if (caught === undefined) return false;
  demo.remember({ crash: { payableId: caught.line.payableId, paymentId: caught.paymentId } });
  await processes.crash(worker);
  narrator.line(
    `${red("✗ SIGKILL")} to the worker (process ${worker.pid}): the service had just taken`,
  );
  narrator.line(
    `  ${nameOf(caught.line)}, ${formatUsd(caught.line.amountCents)}, as ${caught.paymentId}, and nobody here knows`,
  );
  return true;
}

interface Caught {
  readonly line: RunPaymentStatus;
  readonly paymentId: string;
}

async function paymentWithoutAnswer(demo: Demo): Promise<Caught | undefined> {
  const untilMs = Date.now() + STAGE_LIMIT_MS;
  const sinceMs = new Map<string, number>();
  let busyAtMs = Date.now();
  while (Date.now() < untilMs && Date.now() - busyAtMs < IDLE_LIMIT_MS) {
    const run = await demo.gateway.run(runIdOf(demo));
    const isAlone = run.payments.filter(({ state }) => LINE.leased.includes(state)).length === 1;
    for (const caught of await unrecorded(demo, run)) {
      const firstMs = sinceMs.get(caught.paymentId) ?? Date.now();
      sinceMs.set(caught.paymentId, firstMs);
      if (Date.now() - firstMs >= (isAlone ? KEPT_BACK_MS : ALONE_LIMIT_MS)) return caught;
    }
    if (run.payments.some(({ state }) => LINE.leasable.includes(state))) busyAtMs = Date.now();
    else if (!run.payments.some(({ state }) => state === "awaiting-approval")) return undefined;
    await sleep(POLL_MS);
  }
  return undefined;
}

/** Returns payments that the service has and Payrun has not recorded yet. */
async function unrecorded({ service, state }: Demo, run: RunStatus): Promise<Caught[]> {
  const paying = run.payments.filter(
    (line) => line.state === "paying" && line.paymentIds.length === 0,
  );
  if (paying.length === 0) return [];
  const before = new Set(state.paymentsBefore);
  const { items } = await service.payments.list({ page: 1, pageSize: 100 });
  return items.flatMap((payment) => {
    const line = paying.find(({ payableId }) => payableId === payment.payableId);
    return line === undefined || before.has(payment.id) ? [] : [{ line, paymentId: payment.id }];
  });
}

export async function restartWorker(demo: Demo): Promise<void> {
  demo.worker = await demo.startWorker();
  demo.narrator.line(`${green("✓")} worker restarted (process ${demo.worker.pid})`);
}

/** Waits until the payment has been found, and shows how. */
export async function showRecovery(demo: Demo): Promise<void> {
  const { narrator, gateway, sandbox, service } = demo;
  const { crash } = demo.state;
  if (crash === undefined || demo.state.crashShown === true) return;
  narrator.heading("Lookup");
  narrator.line(
    dim("no worker may send the bill before the dead worker's lease on it has run out"),
  );
  const { payableId, paymentId } = crash;
  const lineOf = (run: RunStatus) =>
    run.payments.find((payment) => payment.payableId === payableId);
  const run = await pollRun(gateway, runIdOf(demo), {
    until: (now) => (lineOf(now)?.paymentIds.length ?? 0) > 0,
    limitMs: RECOVERY_LIMIT_MS,
  });
  const [attempt] = (await gateway.history(payableId)).attempts;
  const line = lineOf(run);
  if (attempt === undefined || line === undefined) return;
  const keyed = (await sandbox.requests()).filter(
    ({ key, method }) => method === "POST" && key === attempt.idempotencyKey,
  );
  const ofBill = await service.payments.listAll({ payableId });
  const made = ofBill.filter(({ id }) => demo.state.paymentsBefore?.includes(id) !== true);
  const found = line.paymentIds.includes(paymentId);
  narrator.line(
    `${found ? green("✓") : red("✗")} ${nameOf(line)}: attempt ${attempt.seq} was sent ${times(attempt.sends.length)}, its answer never recorded;`,
  );
  narrator.line(
    `  a lookup of the bill's payments found ${line.paymentIds.join(", ")} and took it over.`,
  );
  narrator.line(
    dim(
      // A restarted sandbox has forgotten the requests that it received before.
      `  The service ${keyed.length === 0 ? "" : `received its key ${times(keyed.length)} and `}has ${made.length === 1 ? "one payment" : `${made.length} payments`} of the bill.`,
    ),
  );
  demo.remember({ crashShown: true });
}

function times(number: number): string {
  return number === 1 ? "once" : `${number} times`;
}

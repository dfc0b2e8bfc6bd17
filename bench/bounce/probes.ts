import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { Gateway } from "../gateway.ts";

const runShape = z.object({ phase: z.string(), planHash: z.string().nullable() });
const cancelShape = z.object({
  id: z.string(),
  payments: z.array(z.object({ state: z.string() })),
});

/** How long each kind of action was waited for, in milliseconds. */
export interface Waits {
  readonly plans: number[];
  readonly decisions: number[];
  readonly cancels: number[];
}

const LOOK_EVERY_MS = 25;
/** The first period of a probe's playbook; each round is a run of the day after. */
const FIRST_MS = Date.parse("2020-01-01T00:00:00Z");
const DAY_MS = 86_400_000;
/** Pause between two probes: the measurement should not itself cause slowness. */
const REST_MS = 1_500;

interface Probed {
  /** A playbook that pays bills on which nothing else depends. */
  readonly playbook: string;
  /** Scheduled payments that can be cancelled, one a round; taken from the end. */
  readonly payments: string[];
}

/** Repeats what people do until `ended` is true: plans a run, rejects it, cancels a payment. */
export async function probe(
  gateway: Gateway,
  { playbook, payments }: Probed,
  ended: () => boolean,
): Promise<Waits> {
  const waits: Waits = { plans: [], decisions: [], cancels: [] };
  while (!ended()) {
    const planMs = performance.now();
    const run = await gateway.launch(playbook, nextPeriod());
    const path = `/v1/runs/${encodeURIComponent(run)}`;
    const planned = await untilRun(gateway, path, ({ phase }) => phase !== "planning");
    waits.plans.push(performance.now() - planMs);
    // The round before may still hold its bills; then there is nothing to decide.
    if (planned.phase !== "completed") {
      const decisionMs = performance.now();
      const decision = { decision: "reject", planHash: planned.planHash };
      await gateway.call("controller", "POST", `${path}/decisions`, decision);
      await untilRun(gateway, path, ({ phase }) => phase === "rejected");
      waits.decisions.push(performance.now() - decisionMs);
    }
    const payment = payments.pop();
    if (payment !== undefined) waits.cancels.push(await cancel(gateway, payment));
    await sleep(REST_MS);
  }
  return waits;
}

let rounds = 0;

function nextPeriod(): string {
  rounds += 1;
  return new Date(FIRST_MS + rounds * DAY_MS).toISOString().slice(0, 10);
}

async function untilRun(
  gateway: Gateway,
  path: string,
  is: (run: z.infer<typeof runShape>) => boolean,
): Promise<z.infer<typeof runShape>> {
  for (;;) {
    const run = runShape.parse(await gateway.call("launcher", "GET", `${path}?pageSize=1`));
    if (is(run)) return run;
    await sleep(LOOK_EVERY_MS);
  }
}

async function cancel(gateway: Gateway, payment: string): Promise<number> {
  const beganMs = performance.now();
  const body = { payments: [payment] };
  const { id } = cancelShape.parse(
    await gateway.call("launcher", "POST", "/v1/cancellations", body),
  );
  for (;;) {
    const path = `/v1/runs/${encodeURIComponent(id)}`;
    const [shown] = cancelShape.parse(await gateway.call("launcher", "GET", path)).payments;
    if (shown?.state === "cancelled") return performance.now() - beganMs;
    await sleep(LOOK_EVERY_MS);
  }
}

import { parseArgs } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { ENDED_PHASES, type RunPhase } from "../../src/contracts/pay-run.ts";
import { wholeNumber } from "../../test/support/arguments.ts";
import { median } from "../medians.ts";
import { MANNERS } from "../run/bad-manners.ts";
import { figuresOf } from "../run/process-figures.ts";
import { Stack } from "../run/stack.ts";
import type { NewStubBusiness, StubFigures } from "../run/stub-book.ts";

/** Runs that each badly behaved service has open. */
const RUNS_OF_EACH = 12;

/** How long these are at work before the others are measured. */
const AT_WORK_MS = 15_000;

/** What a sound business waits for, in milliseconds. */
interface Waits {
  readonly plan: number;
  /** From the approval to the first payment. */
  readonly firstPayment: number;
  /** From the first payment to the last one's response. */
  readonly paying: number;
}

/**
 * Times the runs of sound businesses, alone and beside four services that drip, hang, never end and
 * lie, each with twelve open runs, in one worker.
 */
export async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      bills: { type: "string", default: "1000" },
      rounds: { type: "string", default: "3" },
      json: { type: "boolean", default: false },
    },
  });
  const bills = wholeNumber("bills", values.bills, 1);
  const rounds = wholeNumber("rounds", values.rounds, 1);
  const named = (businessId: string): NewStubBusiness => ({
    ...{ businessId, token: `token-of-${businessId}`, bills },
  });
  const of = (name: string): NewStubBusiness[] =>
    Array.from({ length: rounds }, (_, round) => named(`${name}-${round + 1}`));
  const [alone, beside] = [of("alone"), of("beside")];
  const bad = MANNERS.map((manner) => ({ ...named(manner), manner }));
  const stack = await Stack.start({
    ...{ databaseUrl: undefined, temporalAddress: undefined, namespace: "default" },
    ...{ profileTo: undefined, businesses: [named("warm-up"), ...alone, ...beside, ...bad] },
  });
  try {
    await timed(stack, "warm-up");
    const before = await each(stack, alone);
    for (const { businessId } of bad) {
      for (let run = 1; run <= RUNS_OF_EACH; run += 1) {
        await launch(stack, businessId, `${businessId}-run-${run}`);
      }
    }
    await sleep(AT_WORK_MS);
    const after = await each(stack, beside);
    const worker = stack.parts.get("worker");
    const peakBytes = worker === undefined ? 0 : (figuresOf(worker.pid)?.peakBytes ?? 0);
    const figures = { bills, alone: medians(before), beside: medians(after), peakBytes };
    process.stdout.write(values.json ? `${JSON.stringify(figures)}\n` : report(figures));
  } finally {
    await stack.stop();
  }
}

async function each(stack: Stack, businesses: readonly NewStubBusiness[]): Promise<Waits[]> {
  const waits: Waits[] = [];
  for (const { businessId } of businesses) waits.push(await timed(stack, businessId));
  return waits;
}

async function launch(stack: Stack, business: string, name: string): Promise<string> {
  const text = `kind: pay-run
business: ${business}
select: { due: all }
pay: { on: next-business-day }
review: []
approve:
  - { by: [controller, owner] }
late: next-business-day
`;
  await stack.gateway.call("admin", "POST", "/v1/playbooks", { name, text });
  return stack.gateway.launch(name);
}

/** Plans, approves and pays all bills of a business. */
async function timed(stack: Stack, business: string): Promise<Waits> {
  const launchedMs = performance.now();
  const id = await launch(stack, business, `${business}-run`);
  const path = `/v1/runs/${encodeURIComponent(id)}`;
  const look = async () =>
    (await stack.gateway.call("launcher", "GET", `${path}?page=1&pageSize=1`)) as {
      readonly phase: RunPhase;
      readonly planHash: string | null;
    };
  let now = await look();
  for (; now.phase === "planning"; now = await look()) await sleep(20);
  const plan = performance.now() - launchedMs;
  const approvedMs = Date.now();
  const decision = { decision: "approve", planHash: now.planHash };
  await stack.gateway.call("controller", "POST", `${path}/decisions`, decision);
  for (; !ENDED_PHASES.includes(now.phase); now = await look()) await sleep(200);
  if (now.phase !== "completed") throw new Error(`the run of ${business} ended ${now.phase}`);
  const shown = await stack.stub<StubFigures>(`/stub/businesses/${business}`);
  const { firstPayMs, lastPaidMs } = shown;
  return { plan, firstPayment: firstPayMs - approvedMs, paying: lastPaidMs - firstPayMs };
}

function medians(waits: readonly Waits[]): Waits {
  const of = (name: keyof Waits): number => median(waits.map((each) => each[name]));
  return { plan: of("plan"), firstPayment: of("firstPayment"), paying: of("paying") };
}

function report({
  bills,
  alone,
  beside,
  peakBytes,
}: {
  readonly bills: number;
  readonly alone: Waits;
  readonly beside: Waits;
  readonly peakBytes: number;
}): string {
  const row = (what: string, name: keyof Waits): string =>
    `${what.padEnd(28)} alone ${seconds(alone[name])}, beside ${seconds(beside[name])}: ${(beside[name] / alone[name]).toFixed(2)} x`;
  return [
    `${bills} bills; four badly behaved services with ${RUNS_OF_EACH} open runs each`,
    row("plan", "plan"),
    row("approval to first payment", "firstPayment"),
    row("first to last payment", "paying"),
    `worker                       at most ${Math.round(peakBytes / 1_048_576)} MiB`,
    "",
  ].join("\n");
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}

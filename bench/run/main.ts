import { parseArgs } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { ENDED_PHASES, type RunPhase } from "../../src/contracts/pay-run.ts";
import { wholeNumber } from "../../test/support/arguments.ts";
import { type HistoryFigures, historyFigures } from "./history.ts";
import { figuresOf, type ProcessFigures } from "./process-figures.ts";
import { startPostgres } from "./postgres.ts";
import { type RawFigures, rawLoop } from "./raw-loop.ts";
import { Stack } from "./stack.ts";
import type { StubFigures } from "./stub-book.ts";

const PLAYBOOK = `kind: pay-run
select: { due: all }
pay: { on: next-business-day }
review: []
approve:
  - { by: [controller, owner] }
late: next-business-day
`;

interface Progress {
  readonly phase: RunPhase;
  readonly planHash: string | null;
  readonly waitingFor: string | null;
  readonly counts: Readonly<Record<string, number>>;
}

interface RunFigures {
  readonly planMs: number;
  readonly wholeMs: number;
  readonly phases: Readonly<Record<string, number>>;
  readonly history: HistoryFigures;
  readonly processes: Readonly<Record<string, ProcessFigures>>;
}

/**
 * Times a pay run of many bills from launch to settled, beside a loop that makes the same requests
 * to the same stub of the service (20 ms an answer, 80 in flight) and stores nothing.
 */
export async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      bills: { type: "string", default: "10000" },
      postgres: { type: "boolean", default: false },
      database: { type: "string" },
      temporal: { type: "string" },
      namespace: { type: "string", default: "default" },
      "cpu-prof": { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const bills = wholeNumber("bills", values.bills, 1);
  const suffix = Date.now().toString(36);
  const business = { businessId: `bench-${suffix}`, token: `token-${suffix}`, bills };
  const postgres =
    values.postgres && values.database === undefined ? await startPostgres() : undefined;
  if (values.postgres && values.temporal === undefined) {
    process.stderr.write(
      "Temporal's development server is used: --temporal HOST:PORT names a server on PostgreSQL.\n",
    );
  }
  const stack = await Stack.start({
    databaseUrl: values.database ?? postgres?.url,
    temporalAddress: values.temporal,
    namespace: values.namespace,
    profileTo: values["cpu-prof"],
    businesses: [business],
  });
  try {
    const rawBusiness = { businessId: "raw", token: "raw-token", bills };
    await stack.stub("/stub/businesses", rawBusiness);
    const raw = await rawLoop(stack.stubUrl, rawBusiness.token, bills);
    const rawCounts = await stack.stub<StubFigures>("/stub/businesses/raw");
    const run = await payrun(stack, bills);
    const counts = await stack.stub<StubFigures>(`/stub/businesses/${business.businessId}`);
    const figures = { bills, raw, rawCounts, run, counts };
    process.stdout.write(values.json ? `${JSON.stringify(figures)}\n` : report(figures));
    if (counts.paidBills !== bills || counts.paidMoreThanOnce > 0) process.exitCode = 1;
    if (values["cpu-prof"] !== undefined) await stack.stopEngine();
  } finally {
    await stack.stop();
    await postgres?.stop();
  }
}

async function payrun(stack: Stack, bills: number): Promise<RunFigures> {
  await stack.gateway.call("admin", "POST", "/v1/playbooks", { name: "bench", text: PLAYBOOK });
  const before = processes(stack);
  const startedMs = performance.now();
  const id = await stack.gateway.launch("bench");
  const path = `/v1/runs/${encodeURIComponent(id)}`;
  const phases: Record<string, number> = {};
  let planMs = 0;
  let waitedMs = 0;
  for (let last = startedMs; ;) {
    const now = (await stack.gateway.call(
      "launcher",
      "GET",
      `${path}?page=1&pageSize=1`,
    )) as Progress;
    const atMs = performance.now();
    phases[now.phase] = (phases[now.phase] ?? 0) + (atMs - last);
    last = atMs;
    if (now.phase === "awaiting-approval" && planMs === 0) {
      planMs = atMs - startedMs;
      const decision = { decision: "approve", planHash: now.planHash };
      await stack.gateway.call("controller", "POST", `${path}/decisions`, decision);
      waitedMs = performance.now() - atMs;
    }
    if (ENDED_PHASES.includes(now.phase)) {
      if (now.phase !== "completed") throw new Error(`the run ended ${now.phase}`);
      break;
    }
    // If the run's status were read too often, the answers would cost more than the run.
    await sleep(50 + bills / 200);
  }
  phases["approving"] = waitedMs;
  const wholeMs = performance.now() - startedMs;
  if (stack.client === undefined) throw new Error("there is no Temporal client");
  return {
    planMs,
    wholeMs,
    phases,
    history: await historyFigures(stack.client, id),
    processes: spent(processes(stack), before),
  };
}

function processes(stack: Stack): Record<string, ProcessFigures> {
  const found: Record<string, ProcessFigures> = {};
  for (const [name, part] of stack.parts) {
    const figures = figuresOf(part.pid);
    if (figures !== undefined) found[name] = figures;
  }
  return found;
}

function spent(
  after: Readonly<Record<string, ProcessFigures>>,
  before: Readonly<Record<string, ProcessFigures>>,
): Record<string, ProcessFigures> {
  return Object.fromEntries(
    Object.entries(after).map(([name, { cpuMs, peakBytes }]) => [
      name,
      { cpuMs: cpuMs - (before[name]?.cpuMs ?? 0), peakBytes },
    ]),
  );
}

interface Figures {
  readonly bills: number;
  readonly raw: RawFigures;
  readonly rawCounts: StubFigures;
  readonly run: RunFigures;
  readonly counts: StubFigures;
}

function report({ bills, raw, rawCounts, run, counts }: Figures): string {
  const payMs = counts.lastPaidMs - counts.firstPayMs;
  const rawPayMs = rawCounts.lastPaidMs - rawCounts.firstPayMs;
  const each = (value: number, digits = 3): string => (value / bills).toFixed(digits);
  const phases = Object.entries(run.phases).map(([phase, ms]) => `${phase} ${seconds(ms)}`);
  const parts = Object.entries(run.processes).map(
    ([name, { cpuMs, peakBytes }]) =>
      `  ${name.padEnd(9)} ${each(cpuMs)} ms of processor a payment, at most ${Math.round(peakBytes / 1_048_576)} MiB`,
  );
  return [
    `${bills} bills`,
    `pay phase    raw ${seconds(rawPayMs)} (${rate(bills, rawPayMs)}), Payrun ${seconds(payMs)} (${rate(bills, payMs)}): ${(payMs / rawPayMs).toFixed(2)} x`,
    `whole run    raw ${seconds(raw.wholeMs)}, Payrun ${seconds(run.wholeMs)}: ${(run.wholeMs / raw.wholeMs).toFixed(2)} x`,
    `             ${phases.join(", ")}`,
    `requests     raw ${rawCounts.pays} pays and ${rawCounts.reads} reads, Payrun ${counts.pays} and ${counts.reads}`,
    `paid once    ${counts.paidBills} bills, ${counts.paidMoreThanOnce} more than once`,
    `history      ${run.history.events} events (${each(run.history.events)} a payment), ${run.history.actions} billable actions (${each(run.history.actions)}), ${run.history.bytes} bytes`,
    ...parts,
    "",
  ].join("\n");
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}

function rate(bills: number, ms: number): string {
  return `${Math.round((bills / ms) * 1_000)}/s`;
}

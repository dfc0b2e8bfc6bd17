import { setTimeout as sleep } from "node:timers/promises";

import { DAY_MS } from "../../contracts/durations.ts";
import { LINE, LINE_STATES, type LineState } from "../../contracts/line-states.ts";
import type { RunStatus } from "../../api/runs.ts";
import { spokenDay } from "../../domain/clock/spoken.ts";
import { formatUsd } from "../../domain/money.ts";
import { CliError, EXIT } from "../terminal/cli-error.ts";
import { hasEnded } from "../show/run.ts";
import { nameOf } from "../show/plan.ts";
import { dim, green, printable, red } from "../terminal/text.ts";
import { counted } from "../../domain/counted.ts";
import { pollRun } from "../show/wait-for-run.ts";
import { anotherSystemApproves } from "./approvals.ts";
import { type Demo, runIdOf } from "./context.ts";
import { LOST_WEBHOOKS } from "./crash.ts";
import { Incidents } from "./incidents.ts";

/** Bank seconds per real second while payments settle: a day takes less than a second … */
const FAST = 100_000;

/** … but slower while something waits for a decision, or if deadlines approach after a while. */
const SLOWER = 20_000;
const LONG_MS = 12 * DAY_MS;

const POLL_MS = 400;
const SENT_LIMIT_MS = 120_000;
const SETTLE_LIMIT_MS = 300_000;

/** Approved bills are usually acted on within this time; a crashed worker's may take longer. */
const SOON_MS = 30_000;
const MOST_ROUNDS = 4;

/**
 * Waits until every approved bill is with the service. A bill whose dates or vendor changed since
 * its approval needs another approval, and gets it.
 */
export async function untilSent(demo: Demo): Promise<RunStatus> {
  const { released = [] } = demo.state;
  const waits = (run: RunStatus, states: readonly LineState[]) =>
    !hasEnded(run) && run.payments.some(({ state }) => states.includes(state));
  const isLettingGo = (run: RunStatus) =>
    !hasEnded(run) &&
    run.payments.some((line) => line.state === "on-hold" && released.includes(line.payableId));
  for (let rounds = 1; ; rounds += 1) {
    const run = await pollRun(demo.gateway, runIdOf(demo), {
      until: (now) => !waits(now, [...LINE.holdable, ...LINE.leased]) && !isLettingGo(now),
      limitMs: rounds === 1 ? SOON_MS : SENT_LIMIT_MS,
    });
    const isAsked = waits(run, ["awaiting-approval"]) && !waits(run, LINE.leasable);
    if (!isAsked || rounds === MOST_ROUNDS) return run;
    await approveAgain(demo);
  }
}

/** Passes the bank's days in seconds until the run has ended, with a line for every day. */
export async function settle(demo: Demo): Promise<RunStatus> {
  const { narrator, gateway, sandbox } = demo;
  await sandbox.faults([], LOST_WEBHOOKS);
  const untilMs = Date.now() + SETTLE_LIMIT_MS;
  const news = new News(demo);
  const incidents = new Incidents(demo);
  let shown = "";
  let lastDay = "";
  for (;;) {
    const [run, clock] = await Promise.all([gateway.run(runIdOf(demo)), sandbox.clock()]);
    const counts = countsOf(run);
    const isNewDay = spokenDay(clock.bank) !== lastDay;
    if (isNewDay && counts !== shown) {
      narrator.line(`${spokenDay(clock.bank).padEnd(12)} ${counts}`);
      shown = counts;
    }
    lastDay = spokenDay(clock.bank);
    news.tell(run);
    const scale = paceOf(demo, run, clock.bank);
    if (clock.scale !== scale) await sandbox.changeClock({ scale });
    await incidents.decide(run);
    if (hasEnded(run)) {
      await sandbox.changeClock({ scale: 1 });
      return run;
    }
    if (run.payments.some(({ state }) => state === "awaiting-approval")) {
      await sandbox.changeClock({ scale: 1 });
      await approveAgain(demo);
      await untilSent(demo);
    }
    if (Date.now() > untilMs) {
      throw new CliError(EXIT.failed, `the run has not ended: ${run.waitingFor ?? run.phase}`, {
        hint: `Look at ${demo.addresses.temporalUi ?? "Temporal"}.`,
      });
    }
    await sleep(POLL_MS);
  }
}

/** Returns how fast the bank's days may pass now. */
function paceOf({ state }: Demo, { payments }: RunStatus, bank: string): number {
  const isUndecided =
    state.bounced === undefined && payments.some((line) => line.state === "retrying");
  const [firstDate] = payments.flatMap(({ executionDate }) => executionDate ?? []).toSorted();
  const isLong = firstDate !== undefined && Date.parse(bank) > Date.parse(firstDate) + LONG_MS;
  return isUndecided || isLong ? SLOWER : FAST;
}

async function approveAgain(demo: Demo): Promise<void> {
  demo.narrator.line(dim("some bills changed since their approval and need another one"));
  await anotherSystemApproves(demo, "controller");
  await anotherSystemApproves(demo, "owner");
}

function countsOf({ counts }: RunStatus): string {
  return LINE_STATES.filter((state) => (counts[state] ?? 0) > 0)
    .map((state) => `${counts[state]} ${state}`)
    .join(dim(" · "));
}

/**
 * Reports once each bill that a person must look at, and the bounced bills once all of them have
 * settled.
 */
class News {
  readonly #demo: Demo;
  readonly #told = new Set<string>();

  constructor(demo: Demo) {
    this.#demo = demo;
  }

  tell(run: RunStatus): void {
    const { narrator, state } = this.#demo;
    for (const line of run.payments) {
      if (line.state !== "parked" || !this.#isNew(line.payableId)) continue;
      const text = `parked: ${line.reason ?? ""}`;
      const amount = formatUsd(line.amountCents);
      narrator.text(`${red("!")} ${nameOf(line)}, ${amount}: ${printable(text)}`);
    }
    const bounced = state.bounced?.payableIds ?? [];
    const lines = run.payments.filter(({ payableId }) => bounced.includes(payableId));
    const areSettled = lines.length > 0 && lines.every((line) => line.state === "settled");
    if (areSettled && this.#isNew("bounced")) {
      narrator.line(`${green("✓")} the ${counted(lines.length, "bill")} that bounced have settled`);
    }
  }

  #isNew(key: string): boolean {
    const isNew = !this.#told.has(key);
    this.#told.add(key);
    return isNew;
  }
}

import { setTimeout as sleep } from "node:timers/promises";

import { retryFailedPaymentId } from "../../contracts/names.ts";
import type { LineState, RunPaymentStatus, RunStatus } from "../../contracts/pay-run.ts";
import { formatUsd } from "../../domain/money.ts";
import { CliError, EXIT } from "../cli-error.ts";
import { hasEnded } from "../show-run.ts";
import { nameOf } from "../show-plan.ts";
import { dim, green, printable, red, yellow } from "../text.ts";
import { newYorkDay } from "../times.ts";
import { pollRun } from "../wait-for-run.ts";
import { anotherSystemApproves } from "./approvals.ts";
import { type Demo, runIdOf } from "./context.ts";
import { LOST_WEBHOOKS } from "./crash.ts";
import { releaseAccounts } from "./incidents.ts";

/** Bank seconds per real second while payments settle: a day takes about two seconds. */
const FAST = 40_000;

const POLL_MS = 400;
const SENT_LIMIT_MS = 120_000;
const SETTLE_LIMIT_MS = 300_000;

/** Approvals are acted on sooner than this; a crashed worker's bills may take longer. */
const SOON_MS = 30_000;
const MOST_ROUNDS = 4;

const SENDING: readonly LineState[] = ["planned", "paying", "unknown"];

/**
 * Waits until every bill that somebody approved is with the service. A bill whose dates or vendor
 * changed since its approval needs another one, and gets it.
 */
export async function untilSent(demo: Demo): Promise<RunStatus> {
  const waits = (run: RunStatus, states: readonly LineState[]) =>
    !hasEnded(run) && run.payments.some(({ state }) => states.includes(state));
  for (let rounds = 1; ; rounds += 1) {
    const run = await pollRun(demo.gateway, runIdOf(demo), {
      until: (now) => !waits(now, ["awaiting-approval", ...SENDING]),
      limitMs: rounds === 1 ? SOON_MS : SENT_LIMIT_MS,
    });
    const isAsked = waits(run, ["awaiting-approval"]) && !waits(run, SENDING);
    if (!isAsked || rounds === MOST_ROUNDS) return run;
    await approveAgain(demo);
  }
}

/** Lets the bank's days pass in seconds until the run has ended, a line for every day. */
export async function settle(demo: Demo): Promise<RunStatus> {
  const { narrator, gateway, sandbox } = demo;
  await sandbox.faults([], LOST_WEBHOOKS);
  await sandbox.changeClock({ scale: FAST });
  const untilMs = Date.now() + SETTLE_LIMIT_MS;
  const news = new News(demo);
  let shown = "";
  let lastDay = "";
  for (;;) {
    const [run, clock] = await Promise.all([gateway.run(runIdOf(demo)), sandbox.clock()]);
    const counts = countsOf(run);
    const isNewDay = newYorkDay(clock.bank) !== lastDay;
    if (isNewDay && counts !== shown) {
      narrator.line(`${newYorkDay(clock.bank).padEnd(12)} ${counts}`);
      shown = counts;
    }
    lastDay = newYorkDay(clock.bank);
    await news.tell(run);
    if (hasEnded(run)) {
      await sandbox.changeClock({ scale: 1 });
      return run;
    }
    if (run.payments.some(({ state }) => state === "awaiting-approval")) {
      await sandbox.changeClock({ scale: 1 });
      await approveAgain(demo);
      await untilSent(demo);
      await sandbox.changeClock({ scale: FAST });
    }
    if (Date.now() > untilMs) {
      throw new CliError(EXIT.failed, `the run has not ended: ${run.waitingFor ?? run.phase}`, {
        hint: `Look at ${demo.addresses.temporalUi ?? "Temporal"}.`,
      });
    }
    await sleep(POLL_MS);
  }
}

async function approveAgain(demo: Demo): Promise<void> {
  demo.narrator.line(dim("some bills changed since their approval and need another one"));
  await anotherSystemApproves(demo, "controller");
  await anotherSystemApproves(demo, "owner");
}

const ORDER: readonly LineState[] = [
  "settled",
  "processing",
  "scheduled",
  "retrying",
  "held",
  "parked",
];

function countsOf({ counts }: RunStatus): string {
  return ORDER.filter((state) => (counts[state] ?? 0) > 0)
    .map((state) => `${counts[state]} ${state}`)
    .join(dim(" · "));
}

/** Tells once of every bill that leaves the straight way, and how it comes back. */
class News {
  readonly #demo: Demo;
  readonly #told = new Set<string>();
  readonly #retried = new Set<string>();

  constructor(demo: Demo) {
    this.#demo = demo;
  }

  async tell(run: RunStatus): Promise<void> {
    for (const line of run.payments) {
      if (line.state === "retrying") await this.#retry(run, line);
      if (line.state === "parked") this.#once(line, red("!"), `parked: ${line.reason ?? ""}`);
      if (line.state === "settled" && this.#retried.has(line.payableId)) {
        this.#once(line, green("✓"), "settled after its retry");
      }
    }
  }

  async #retry(run: RunStatus, line: RunPaymentStatus): Promise<void> {
    if (this.#retried.has(line.payableId)) return;
    const workflowId = retryFailedPaymentId(run.business, line.payableId);
    const retry = await this.#demo.gateway.run(workflowId).catch(() => undefined);
    // It has not looked at the failure yet, or has parked the bill already.
    if (retry?.waitingFor == null || retry.payments.some(({ state }) => state === "parked")) return;
    this.#retried.add(line.payableId);
    this.#once(
      line,
      yellow("↻"),
      `failed. ${retry.waitingFor}`,
      dim(`Its workflow: ${workflowId}`),
    );
    await releaseAccounts(this.#demo);
  }

  #once(line: RunPaymentStatus, mark: string, text: string, more?: string): void {
    const key = `${line.payableId} ${line.state}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    const { narrator } = this.#demo;
    narrator.line(`${mark} ${nameOf(line)}, ${formatUsd(line.amountCents)}: ${printable(text)}`);
    if (more !== undefined) narrator.line(`  ${more}`);
  }
}

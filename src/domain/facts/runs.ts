import type { OffCycle } from "../off-cycle.ts";
import { ENDED_PHASES, RUN_PHASES, type RunPhase } from "../../contracts/pay-run.ts";
import type { BillSum } from "../counted.ts";
import { digest, type DigestedRun } from "../notices/digest.ts";
import { lateAtBank } from "../notices/late-texts.ts";
import { type BillOfRecord, recordsChanged } from "../notices/record-texts.ts";
import { remittanceAdvice } from "../notices/remittance.ts";
import {
  businessWaits,
  parked,
  planMade,
  planWarned,
  runEnded,
  runFailedNotice as textOfFailed,
  type RunName,
  type ShownSums,
} from "../notices/run-texts.ts";
import {
  fact,
  type Head,
  news,
  notice,
  text,
  toOperators,
  wakeOfRun,
  wakeWorkflow,
  whole,
} from "./fact.ts";

const launched = { playbook: text, revision: whole, period: text };

export const runLaunched = fact("run.launched", {
  ...launched,
  tokenId: text.nullable(),
  policy: text,
  inputs: text,
});
export const runJoined = fact("run.joined", launched);

export const runCancelRequested = fact(
  "run.cancel-requested",
  { reason: text.optional() },
  { wakes: ({ subject }) => [wakeWorkflow(subject), wakeOfRun(subject)] },
);

/** A run has its first plan. */
export const runPlanned = fact(
  "run.planned",
  { planHash: text, lines: whole, totalCents: whole, skipped: whole },
  { wakes: ({ subject }) => [wakeOfRun(subject)] },
);

/** The run's phase is in the action: a phase is what people look for. */
export const RUN_PHASE = Object.fromEntries(
  RUN_PHASES.map((phase) => {
    const isOver = ENDED_PHASES.includes(phase);
    const wakes = (of: Head) => (isOver ? [wakeOfRun(of.subject)] : []);
    return [phase, fact(`run.phase:${phase}`, { from: text }, { wakes })];
  }),
) as Readonly<Record<RunPhase, ReturnType<typeof fact<{ from: typeof text }>>>>;

interface Failed {
  readonly subject: string;
  readonly reason: string;
  /** Undefined if the playbook notifies nobody. */
  readonly run: (RunName & { readonly offCycle: OffCycle | null }) | undefined;
}

export const runFailed = fact(
  "run-failed",
  { reason: text },
  {
    notifies: toOperators(
      "run-failed",
      ({ subject: runId, reason, run }: Failed) =>
        run && {
          factKey: runId,
          ...textOfFailed(run, reason, run.offCycle),
          data: { reason },
          runId,
        },
    ),
    wakes: ({ subject }) => [wakeOfRun(subject)],
  },
);

export const fundingShort = fact("funding-short", { lines: whole, neededCents: whole });

/** Decisions that were sent straight to Temporal, and that nobody reads any more. */
export const decisionsUnread = fact("run.decisions-unread", { code: text, read: whole });

interface Ended {
  readonly run: RunName;
  readonly phase: RunPhase;
  readonly totalCents: number;
  readonly sums: ShownSums;
  /** Of a run that only plans and has: the bills that it would have paid. */
  readonly wouldPay: { readonly sum: BillSum | undefined } | undefined;
  readonly shown: ShownSums;
  readonly unpaid: string | undefined;
  readonly leftOut: Readonly<Record<string, number>> | undefined;
}

export const runCompleted = news(
  notice("run-completed", ({ run, phase, totalCents, wouldPay, ...of }: Ended) => ({
    factKey: run.runId,
    ...(wouldPay === undefined
      ? runEnded(run, phase, of.shown, of.unpaid, of.leftOut)
      : planMade(run, wouldPay.sum)),
    roles: [],
    data: {
      phase,
      totalCents,
      sums: [...of.sums].map(([state, { count, cents }]) => ({ state, count, cents })),
    },
    runId: run.runId,
  })),
);

interface Wait {
  readonly runId: string;
  readonly wait: Parameters<typeof businessWaits>[1] & { readonly sinceMs: number };
}

/** A fault of the whole business keeps a run, or another workflow by its id, waiting. */
export const runWaits = news(
  toOperators("business-waits", ({ runId, wait }: Wait) => {
    const { code, sourceId, sinceMs } = wait;
    return {
      factKey: `${sourceId}/${code}/${sinceMs}`,
      ...businessWaits({ runId }, wait),
      data: { code, sourceId, since: new Date(sinceMs).toISOString() },
      runId,
    };
  }),
);

export const planHasWarnings = news(
  toOperators(
    "plan-warning",
    ({ run, warnings }: { readonly run: RunName; readonly warnings: readonly string[] }) => ({
      factKey: run.runId,
      ...planWarned(run, warnings),
      data: { warnings },
      runId: run.runId,
    }),
  ),
);

/** The most bills that a notice lists for programs. */
const NAMED = 100;

function named(lines: readonly { readonly payableId: string }[]) {
  const payableIds = lines.slice(0, NAMED).map(({ payableId }) => payableId);
  return { count: lines.length, payableIds };
}

interface Parked {
  readonly run: RunName;
  readonly lines: readonly (Parameters<typeof parked>[1][number] & ParkedLine)[];
  readonly sendAtMs: number;
}

interface ParkedLine {
  readonly factKey: string;
  /** The roles that its playbook asks about the failure. */
  readonly deciders: readonly string[];
}

export const billsParked = news(
  notice("parked", ({ run, lines, sendAtMs }: Parked) => {
    const together = lines.map(({ factKey }) => factKey);
    return {
      factKey: together[0] ?? "",
      together,
      sendAtMs,
      runId: run.runId,
      ...parked(run, lines),
      roles: ["operator", ...lines.flatMap(({ deciders }) => deciders)],
      data: named(lines),
    };
  }),
);

type LateLine = Parameters<typeof lateAtBank>[1][number] & {
  readonly payableId: string;
  readonly state: string;
  readonly attempts: number;
};

/** A payment is late once in each state in which it is stuck. */
export function factOfLate(runId: string, { payableId, state, attempts }: LateLine): string {
  return `${runId}/${payableId}/${state}/${attempts}`;
}

export const paymentsLate = news(
  toOperators(
    "payment-late",
    ({ run, lines }: { readonly run: RunName; readonly lines: readonly LateLine[] }) => {
      const together = lines.map((line) => factOfLate(run.runId, line));
      return {
        factKey: together[0] ?? "",
        together,
        runId: run.runId,
        ...lateAtBank(run, lines),
        data: named(lines),
      };
    },
  ),
);

interface ChangedRecords {
  readonly bills: readonly BillOfRecord[];
  readonly zone: string | undefined;
  /** Those who may say whether the accounts are still right. */
  readonly roles: readonly string[];
  /** The facts: the first names the notice. */
  readonly together: readonly string[];
}

export const vendorsChanged = news(
  notice("changed-record", ({ bills, zone, roles, together }: ChangedRecords) => {
    const runIds = [...new Set(bills.map(({ runId }) => runId))];
    const contactIds = [...new Set(bills.map(({ contactId }) => contactId))].slice(0, NAMED);
    return {
      factKey: together[0] ?? "",
      together,
      runId: runIds[0] ?? "",
      ...recordsChanged(bills, zone),
      roles: [...(bills.some(({ stands }) => stands !== "waits") ? ["operator"] : []), ...roles],
      data: { ...named(bills), contactIds, runIds },
    };
  }),
);

interface Digest {
  readonly playbook: string;
  /** When it was due. */
  readonly date: string;
  /** The day whose state it describes: it says how runs stand now, even if it comes late. */
  readonly day: string;
  readonly runs: readonly DigestedRun[];
  readonly end: { readonly entries: number; readonly hash: string } | undefined;
}

export const digestMade = news(
  notice("digest", ({ playbook, date, day, runs, end }: Digest) => ({
    factKey: `${playbook}/${date}`,
    ...digest(playbook, day, runs, end),
    roles: [],
    data: {
      auditHead: end ?? null,
      playbook,
      date: day,
      runs: runs.map(({ runId, phase }) => ({ runId, phase })),
    },
  })),
);

interface Advised {
  readonly runId: string;
  readonly contactId: string;
  readonly payableId: string;
  readonly replyTo: string | null;
  readonly advice: Parameters<typeof remittanceAdvice>[0];
}

/** A payment has settled, which its vendor hears. */
export const vendorPaid = news(
  notice("remittance", ({ runId, contactId, payableId, replyTo, advice }: Advised) => {
    const { paymentId, amountCents } = advice;
    return {
      factKey: paymentId,
      ...remittanceAdvice(advice),
      roles: [],
      data: { paymentId, payableId, amountCents, ...(replyTo !== null && { replyTo }) },
      contactId,
      runId,
    };
  }),
);

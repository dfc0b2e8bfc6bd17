import { setTimeout as delay } from "node:timers/promises";
import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import type { JudgedAnswer } from "../../src/ledger/answers.ts";
import type { WaitReason } from "../../src/ledger/facts.ts";
import type { Closed, GateAnswer, GateStep } from "../../src/ledger/gate.ts";
import type { Operation } from "../../src/ledger/operations.ts";
import { recordResults, type SendOutcome } from "../../src/ledger/results.ts";
import { type Said, whileOpen } from "../../src/ledger/said.ts";
import type { OpenedSend } from "../../src/ledger/write.ts";
import type { TimeLimit } from "../../src/payments-api/index.ts";
import { isOpenSubject } from "../../src/store/payables/open-subjects.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import type { ActivityContext } from "./context.ts";
import { leave, leaveLimit } from "./leave.ts";
import { waitingText } from "./waiting-text.ts";

/** What is known beside what was said of a money write. */
export interface Heard<Seen> {
  /** What was read before the gate was asked. */
  readonly seen: Seen;
  /** The request, with its answer; null if nothing was sent. */
  readonly sent: SendOutcome | null;
  /** Why the gate let nothing through; null if no check of it has refused. */
  readonly closed: Closed | null;
  /** True if a request was sent, and one of the same subject may still take effect. */
  readonly isOpen: boolean;
  readonly clock: ClockReading;
}

/**
 * A kind of money write: what it reads, what it asks the gate for, and what it makes of what comes
 * of it. How the ledger judges its requests is its `Operation`.
 */
export interface MoneyWrite<Subject, Seen, Outcome> {
  readonly operation: Operation;
  readonly businessOf: (subject: Subject) => {
    readonly business: string;
    readonly businessId: string;
  };
  readonly read: (context: ActivityContext, subject: Subject) => Promise<Seen>;
  /** Time within which the request has to leave, if it is less than the gate's. */
  readonly leaveWithinMs?: (seen: Seen, clock: ClockReading) => number | undefined;
  /** Returns undefined if nothing is to be done about the subject any more. */
  readonly ask: (
    context: ActivityContext,
    trx: Transaction<Tables>,
    subject: Subject,
    seen: Seen,
    clock: ClockReading,
  ) => Promise<GateAnswer | undefined>;
  /** The pauses between the tries of one go; each try reads and asks anew. */
  readonly pausesMs: readonly number[];
  /** True, or another pause, if only a further try shows what follows from an answer. */
  readonly again?: (judged: JudgedAnswer, isOpen: boolean) => boolean | number;
  readonly record: (
    trx: Transaction<Tables>,
    subject: Subject,
    said: Said,
    heard: Heard<Seen>,
  ) => Promise<Outcome>;
}

/** What the gate has let through, with the limit within which its bytes may leave. */
export interface Opened<Seen> {
  readonly seen: Seen;
  readonly send: OpenedSend;
  readonly limit: TimeLimit;
}

/** What a lane does in batches, beside the one at hand. */
export interface InBatches<Seen, Outcome> {
  /** The gate has let it through already. */
  readonly opened: Opened<Seen>;
  /** Takes a success, which is then recorded with others, and not here. */
  readonly take: (said: Said & { readonly kind: "applied" }, sent: SendOutcome) => Outcome;
}

/**
 * Does a money write, at most once, whatever happened to it before: reads, asks the gate, sends and
 * records, and again a few times while the answer leaves its effect open.
 *
 * Never throws because of the service's answer to the request: that is the outcome.
 *
 * @returns undefined if nothing was to be done about the subject any more
 */
export async function perform<Subject, Seen, Outcome>(
  context: ActivityContext,
  write: MoneyWrite<Subject, Seen, Outcome>,
  subject: Subject,
  lane?: InBatches<Seen, Outcome>,
): Promise<Outcome | undefined> {
  const { business, businessId } = write.businessOf(subject);
  let opened = lane?.opened;
  for (let tries = 0; ; tries += 1) {
    const asked = opened ?? (await readAndAsk(context, write, subject));
    opened = undefined;
    if ("outcome" in asked) return asked.outcome;
    const { seen, send, limit } = asked;
    const judged = await leave(context, business, write.operation, send, limit);
    const { said } = judged;
    const sent = { send, ...judged };
    if (said.kind === "applied" && lane !== undefined) return lane.take(said, sent);
    const clock = await context.clockOf(business).now();
    const done = await context.store
      .transactionOf(businessId, async (trx) => {
        await recordResults(trx, businessId, [sent]);
        const isOpen = await isOpenSubject(trx, businessId, send.subject);
        const again = write.again?.(judged, isOpen) ?? false;
        const pauseMs = write.pausesMs[tries];
        if (again !== false && pauseMs !== undefined) {
          return { pauseMs: again === true ? pauseMs : again };
        }
        const heard = { seen, sent, closed: null, isOpen, clock };
        return {
          outcome: await write.record(trx, subject, isOpen ? whileOpen(said) : said, heard),
        };
      })
      .catch(async (error: unknown) => {
        // The answer is kept, whatever fails in writing what follows from it.
        await context.store.transactionOf(businessId, (trx) =>
          recordResults(trx, businessId, [sent]),
        );
        throw error;
      });
    if ("outcome" in done) return done.outcome;
    await delay(done.pauseMs);
  }
}

async function readAndAsk<Subject, Seen, Outcome>(
  context: ActivityContext,
  write: MoneyWrite<Subject, Seen, Outcome>,
  subject: Subject,
): Promise<Opened<Seen> | { readonly outcome: Outcome | undefined }> {
  const { business, businessId } = write.businessOf(subject);
  const seen = await write.read(context, subject);
  const clock = await context.clockOf(business).now();
  const limit = leaveLimit(write.leaveWithinMs?.(seen, clock));
  return context.store.transactionOf(businessId, async (trx) => {
    const answer = await write.ask(context, trx, subject, seen, clock);
    if (answer === undefined) return { outcome: undefined };
    if (answer.kind === "open") return { seen, send: answer.send, limit };
    const heard = { seen, sent: null, isOpen: false, clock };
    const { said, closed } = saidByGate(answer, clock);
    return { outcome: await write.record(trx, subject, said, { ...heard, closed }) };
  });
}

/** Returns what the gate says of a subject of which it lets nothing through. */
export function saidByGate(
  answer: Exclude<GateAnswer, { readonly kind: "open" }>,
  clock: ClockReading,
): { readonly said: Said; readonly closed: Closed | null } {
  const closed = answer.kind === "closed" ? answer.closed : null;
  const said = ofStep(answer.step, clock);
  return { said: closed !== null && said.kind === "idle" ? { kind: "closed" } : said, closed };
}

function ofStep(step: GateStep, clock: ClockReading): Said {
  switch (step.kind) {
    case "idle":
    case "person":
      return step;
    case "adopt":
      return { kind: "applied", ids: step.ids, payments: [], found: true, isNew: true, line: null };
    case "applied": {
      const { kind, ids, found, line } = step;
      return { kind, ids, payments: [], found, isNew: false, line };
    }
    case "read":
      return { kind: "later", of: "request", code: null, reason: step.reason, waitMs: 0 };
    case "wait": {
      const { waitMs, reason } = step;
      const text = waitingText(step, clock);
      if (OPEN_WAITS.includes(reason)) return { kind: "unknown", reason: text, waitMs };
      return { kind: "later", of: "request", code: null, reason: text, waitMs };
    }
  }
}

/** Waits in which a request may still take effect. */
const OPEN_WAITS: readonly WaitReason[] = ["leaving", "lookup-due", "unreadable"];

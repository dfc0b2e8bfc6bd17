import { sql, type Kysely } from "kysely";
import type { Plant } from "./plant.ts";

interface Answer {
  readonly kind: string;
  readonly status?: number;
}

/** Judges an answer of this kind as that result. */
function judged(isMeant: (answer: Answer) => boolean, result: string): Plant["make"] {
  return (real) =>
    (operation, answer, ...more) => {
      const told = real(operation, answer, ...more) as object;
      return isMeant(answer as Answer) ? { ...told, result } : told;
    };
}

/** Any database handle of the engine; its tables don't concern the plants. */
type Handle = Kysely<unknown>;

/** Records this result of a send before its bytes leave. */
function writtenFirst(result: string): Plant["make"] {
  return (real) =>
    async (context, business, operation, send, ...more) => {
      const { db } = (context as { readonly store: { readonly db: Handle } }).store;
      const { sendId, openedAtMs } = send as { sendId: string; openedAtMs: number };
      await sql`update sends set result = ${result}, answered_at_ms = ${openedAtMs}
        where send_id = ${sendId} and result = 'pending'`.execute(db);
      return real(context, business, operation, send, ...more);
    };
}

/** Plants about what is recorded of sends, and when. */
export const OF_ANSWERS: readonly Plant[] = [
  {
    name: "error-is-a-refusal",
    file: "src/ledger/answers.ts",
    replaces: "judgeAnswer",
    make: judged(({ status = 0 }) => status >= 500, "rejected"),
  },
  {
    name: "answers-not-compared",
    file: "src/domain/payments/mismatch.ts",
    replaces: "mismatchOf",
    make: () => () => null,
  },
  {
    name: "silence-is-not-sent",
    file: "src/ledger/answers.ts",
    replaces: "judgeAnswer",
    make: judged(({ kind }) => kind === "no-answer", "not-sent"),
  },
  {
    name: "unknown-409-is-a-refusal",
    file: "src/ledger/answers.ts",
    replaces: "judgeAnswer",
    make: judged(({ status }) => status === 409, "rejected"),
  },
  {
    name: "result-before-the-answer",
    file: "activities/shared/leave.ts",
    replaces: "leave",
    make: writtenFirst("unknown"),
  },
  {
    name: "not-sent-written-and-then-sent",
    file: "activities/shared/leave.ts",
    replaces: "leave",
    make: writtenFirst("not-sent"),
  },
  {
    name: "another-send-overwritten",
    file: "src/ledger/results.ts",
    replaces: "recordResults",
    make: (real) => async (trx, business, outcomes) => {
      for (const outcome of outcomes as readonly {
        readonly send: { readonly subject: string; readonly openedAtMs: number };
        readonly result: string;
        readonly status: number | null;
        readonly code: string | null;
      }[]) {
        const { send, result, status, code } = outcome;
        await sql`update sends set result = ${result}, status = ${status}, code = ${code},
          answered_at_ms = ${send.openedAtMs}
          where subject = ${send.subject} and result = 'pending'`.execute(trx as Handle);
      }
      return real(trx, business, outcomes);
    },
  },
  {
    name: "leaves-at-any-time",
    file: "activities/shared/leave.ts",
    replaces: "leaveLimit",
    make: () => () => ({ passed: false }),
  },
  {
    name: "acknowledged-before-commit",
    file: "src/store/events/inbox.ts",
    replaces: "insertEvents",
    make: (real) => (db, events) => {
      setTimeout(() => void real(db, events), 100);
      return Promise.resolve(
        (events as readonly { readonly eventId: string }[]).map(({ eventId }) => eventId),
      );
    },
  },
];

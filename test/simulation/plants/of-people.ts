import { sql, type Transaction } from "kysely";
import { condition } from "../temporal/workflow-stand-in.ts";
import type { Plant } from "./plant.ts";

const DAY_MS = 86_400_000;

interface Wished {
  readonly body: string;
}

interface Returned {
  readonly codes: readonly (string | null)[];
  readonly retriesMade: number;
}

/** Judges the end of an approval by changed facts. */
function endsAsIf(seen: (line: Returned) => Returned): Plant["make"] {
  return (real) => (line) => real(seen(line as Returned));
}

/** Writes no notices of this kind. */
function untold(kind: string): Plant["make"] {
  return (real) => (db, notice) =>
    (notice as { readonly kind: string }).kind === kind ? Promise.resolve(true) : real(db, notice);
}

/** Plants about what people and playbooks have said. */
export const OF_PEOPLE: readonly Plant[] = [
  {
    name: "account-as-the-source-says",
    file: "src/domain/funding-source.ts",
    replaces: "payFields",
    make: (real) => (given, accounts) => ({
      ...(real(given, accounts) as object),
      ...(given as object | null),
    }),
  },
  {
    name: "amount-as-read",
    file: "activities/pay/judge-line.ts",
    replaces: "prepareLine",
    make:
      (real) =>
      (owner, job, read, ...more) => {
        const prepared = real(owner, job, read, ...more) as { readonly wish: Wished | null };
        const { wish } = prepared;
        if (wish === null) return prepared;
        const { payable } = read as { readonly payable: { readonly remainingAmountCents: number } };
        const amountCents = payable.remainingAmountCents;
        const body = JSON.stringify({ ...(JSON.parse(wish.body) as object), amountCents });
        return { ...prepared, wish: { ...wish, body } };
      },
  },
  {
    name: "approval-asked-at-planning-only",
    file: "src/ledger/gate-pay.ts",
    replaces: "mayPay",
    make:
      (real) =>
      async (...asked) => {
        const closed = (await real(...asked)) as Map<string, { readonly code: string }>;
        return new Map([...closed].filter(([, { code }]) => code !== "not_approved"));
      },
  },
  {
    name: "expiry-ignored",
    file: "src/store/approvals/line-approvals.ts",
    replaces: "isApproved",
    make: (real) => () => real(0),
  },
  {
    name: "hold-asked-at-the-draw-only",
    file: "src/store/holds/holds.ts",
    replaces: "holdsOnLines",
    make: () => () => Promise.resolve([]),
  },
  {
    name: "quorum-of-one",
    file: "src/domain/approvals/rules.ts",
    replaces: "ruleOfLine",
    make: (real) => (found) => ({ ...(real(found) as object), quorum: 1 }),
  },
  {
    name: "deposit-unapproved",
    file: "src/store/deposits/deposit-approvals.ts",
    replaces: "approversOfTopUp",
    make: () => () => Promise.resolve(["olga"]),
  },
  {
    name: "nothing-withheld",
    file: "activities/cancel/hold-back.ts",
    replaces: "holdBackFromRun",
    make: () => () => Promise.resolve(),
  },
  {
    name: "cancelled-bills-left-free",
    file: "src/domain/cancellations/holds-of-cancellation.ts",
    replaces: "holdsOfCancellation",
    make: () => () => ({ lifted: false, byOne: "hold_of_nobody", has: () => true }),
  },
  {
    name: "net-asleep",
    file: "activities/follow/safety-net.ts",
    replaces: "watchScheduled",
    make: () => () => Promise.resolve(new Set()),
  },
  {
    name: "word-unheard",
    file: "src/store/lines/asked-records.ts",
    replaces: "endAsking",
    make: () => () => Promise.resolve([]),
  },
  {
    name: "word-unasked",
    file: "activities/notify/changed-records.ts",
    replaces: "notifyOfChangedRecords",
    make: () => () => Promise.resolve(Infinity),
  },
  {
    name: "rules-not-added-up",
    file: "src/store/lines/committed-sums.ts",
    replaces: "CommittedSums",
    make: (real) =>
      class {
        constructor(...[db, by]: readonly unknown[]) {
          const Sums = real as unknown as new (db: unknown, by: unknown) => object;
          return new Sums(db, { ...(by as object), approve: [] });
        }
      },
  },
  {
    name: "limits-not-counted",
    file: "src/store/lines/committed-sums.ts",
    replaces: "CommittedSums",
    make: () =>
      class {
        refusal(): Promise<null> {
          return Promise.resolve(null);
        }
      },
  },
  {
    name: "limits-forgotten-in-plans",
    file: "src/domain/planning/limits.ts",
    replaces: "LimitBook",
    make: () =>
      class {
        take(): null {
          return null;
        }
      },
  },
  {
    name: "parked-bills-untold",
    file: "activities/notify/parked-lines.ts",
    replaces: "notifyOfParked",
    make: () => () => Promise.resolve(Infinity),
  },
  {
    name: "incidents-untold",
    file: "src/store/notices/notices.ts",
    replaces: "raiseNotice",
    make: untold("incident"),
  },
  {
    name: "lost-events-left",
    file: "src/events/deliveries.ts",
    replaces: "startDeliveryRecovery",
    make: () => () => ({ stop: () => Promise.resolve() }),
  },
  {
    name: "paused-endpoints-left",
    file: "src/events/paused-endpoints.ts",
    replaces: "PausedEndpoints",
    make: () =>
      class {
        look(): Promise<void> {
          return Promise.resolve();
        }
      },
  },
  {
    name: "cancels-untold",
    file: "src/store/notices/notices.ts",
    replaces: "raiseNotice",
    make: untold("payment-not-cancelled"),
  },
  {
    name: "lines-that-wait-not-counted",
    file: "src/store/payables/open-subjects.ts",
    replaces: "rowMayStillPay",
    make: (real) => (table) => (table === "run_lines" ? sql`false` : real(table)),
  },
  {
    name: "trail-hashed-by-the-clock",
    file: "src/store/audit/audit.ts",
    replaces: "auditHash",
    make:
      (real) =>
      (entry, ...more) =>
        real({ ...(entry as object), nowMs: Date.now() }, ...more),
  },
  {
    name: "runs-not-told",
    file: "src/store/signals/pending-signals.ts",
    replaces: "signalOnCommit",
    make: () => () => undefined,
  },
  {
    name: "signals-lost-at-continue-as-new",
    file: "workflows/pay-run.ts",
    replaces: "payRun",
    make: (real) => async (input) => {
      // A signal from before the new execution is handled only with the next day's look.
      const { resumed } = input as { readonly resumed?: boolean };
      if (resumed === true) await condition(() => false, DAY_MS);
      return real(input);
    },
  },
  {
    name: "decision-overwritten",
    file: "src/store/approvals/decisions.ts",
    replaces: "recordDecision",
    make: (real) => async (trx, decision) => {
      const { runId } = decision as { readonly runId: string };
      await sql`delete from decisions where run_id = ${runId}`.execute(trx as Transaction<unknown>);
      return real(trx, decision);
    },
  },
  {
    name: "rejection-forgotten",
    file: "src/store/approvals/decisions.ts",
    replaces: "isRejected",
    make: () => () => Promise.resolve(false),
  },
  {
    name: "cancel-forgotten",
    file: "src/store/runs/runs.ts",
    replaces: "requestCancel",
    make: () => () => Promise.resolve("already"),
  },
  {
    name: "claim-released-while-a-send-is-open",
    file: "src/store/payables/open-subjects.ts",
    replaces: "rowMayStillPay",
    make: () => () => sql`(1 = 0)`,
  },
  {
    name: "retry-after-R02",
    file: "src/domain/retries/approval.ts",
    replaces: "approvalEnd",
    make: endsAsIf((line) => ({ ...line, codes: line.codes.filter((code) => code !== "R02") })),
  },
  {
    name: "cap-of-three",
    file: "src/domain/retries/approval.ts",
    replaces: "approvalEnd",
    make: endsAsIf((line) => ({ ...line, retriesMade: line.retriesMade - 1 })),
  },
];

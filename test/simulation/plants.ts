/** A bug that is put in on purpose: it replaces one export of one of the engine's modules. */
export interface Plant {
  readonly name: string;
  /** From the project's root. */
  readonly file: string;
  readonly replaces: string;
  /** @param real what it replaces */
  readonly make: (real: Replaced) => Replaced | (new () => object);
}

/** Nothing is known here of what is replaced: each plant is written for one export. */
export type Replaced = (...given: readonly unknown[]) => unknown;

interface Sent {
  readonly result: string;
  readonly status: number | null;
}

interface Facts {
  readonly attempts: readonly { readonly sends: readonly Sent[] }[];
  readonly looks: readonly { readonly shownIds: readonly string[] }[];
}

interface Answer {
  readonly kind: string;
  readonly status?: number;
}

const DERIVE = "src/ledger/derive.ts";

/** A key is used up as soon as one of its sends came to this. */
function usedUpAfter(isEnough: (send: Sent) => boolean): Plant["make"] {
  return (real) =>
    (facts: unknown, attempt: unknown, ...more: readonly unknown[]) =>
      real(facts, attempt, ...more) === true ||
      (attempt as Facts["attempts"][number]).sends.some(isEnough);
}

/** A send that came to this counts as closed. */
function closedBy(...results: readonly string[]): Plant["make"] {
  return (real) => (facts: unknown) =>
    (real(facts) as readonly Sent[]).filter(({ result }) => !results.includes(result));
}

/** An answer of this kind is judged as that result. */
function judged(isMeant: (answer: Answer) => boolean, result: string): Plant["make"] {
  return (real) => (operation: unknown, answer: unknown) => {
    const told = real(operation, answer) as object;
    return isMeant(answer as Answer) ? { ...told, result } : told;
  };
}

export const PLANTS: readonly Plant[] = [
  {
    name: "random-key",
    file: "src/ledger/key.ts",
    replaces: "idempotencyKey",
    make: () => () => `pr1_${Math.random().toString(16).slice(2)}`,
  },
  {
    name: "key-of-the-day",
    file: "src/ledger/key.ts",
    replaces: "idempotencyKey",
    make: (real) => (business, subject, seq) =>
      real(business, `${String(subject)} ${Math.floor(Date.now() / 86_400_000)}`, seq),
  },
  {
    name: "next-key-after-500",
    file: DERIVE,
    replaces: "isUsedUp",
    make: usedUpAfter(({ result, status }) => result === "unknown" && (status ?? 0) >= 500),
  },
  {
    name: "next-key-after-conflict",
    file: DERIVE,
    replaces: "isUsedUp",
    make: usedUpAfter(({ result }) => result === "conflict"),
  },
  {
    name: "next-key-after-silence",
    file: DERIVE,
    replaces: "isUsedUp",
    make: usedUpAfter(({ result }) => result === "unknown" || result === "pending"),
  },
  {
    name: "any-look-is-the-last-word",
    file: DERIVE,
    replaces: "covers",
    make: () => () => true,
  },
  {
    name: "short-window",
    file: DERIVE,
    replaces: "conclusiveAfterMs",
    make: () => () => 60_000,
  },
  {
    name: "window-by-the-answer-alone",
    file: DERIVE,
    replaces: "untilCoveredMs",
    make: () => () => 0,
  },
  {
    name: "conflict-closes-a-send",
    file: DERIVE,
    replaces: "openSends",
    make: closedBy("conflict"),
  },
  {
    name: "unconfirmed-closes-a-send",
    file: DERIVE,
    replaces: "openSends",
    make: closedBy("unconfirmed"),
  },
  {
    name: "silence-closes-a-send",
    file: DERIVE,
    replaces: "openSends",
    make: closedBy("unknown", "pending"),
  },
  {
    name: "look-with-a-status-filter",
    file: "src/ledger/readings.ts",
    replaces: "readingOf",
    make: (real) => (begun, payments) =>
      real(
        begun,
        (payments as readonly { readonly status: string }[]).filter(
          ({ status }) => status === "processing" || status === "completed",
        ),
      ),
  },
  {
    name: "baseline-read-anew",
    file: DERIVE,
    replaces: "accountedIds",
    make: (real) => (facts) => {
      const { looks } = facts as Facts;
      const known = real(facts) as ReadonlySet<string>;
      return new Set([...known, ...looks.flatMap(({ shownIds }) => shownIds)]);
    },
  },
  {
    name: "error-is-a-refusal",
    file: "src/ledger/answers.ts",
    replaces: "judgeAnswer",
    make: judged(({ status = 0 }) => status >= 500, "rejected"),
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
    name: "leaves-at-any-time",
    file: "activities/pay/leave.ts",
    replaces: "leaveLimit",
    make: () => () => ({ passed: false }),
  },
  {
    name: "acknowledged-before-commit",
    file: "src/store/inbox.ts",
    replaces: "insertEvents",
    make: (real) => (db, events) => {
      setTimeout(() => void real(db, events), 100);
      return Promise.resolve(
        (events as readonly { readonly eventId: string }[]).map(({ eventId }) => eventId),
      );
    },
  },
  {
    name: "hold-not-asked-at-the-gate",
    file: "src/store/holds.ts",
    replaces: "holdsOnLines",
    make: () => () => Promise.resolve([]),
  },
  {
    name: "limits-not-counted",
    file: "src/store/week-sums.ts",
    replaces: "WeekSums",
    make: () =>
      class {
        refusal(): Promise<null> {
          return Promise.resolve(null);
        }
      },
  },
  {
    name: "rejection-forgotten",
    file: "src/store/decisions.ts",
    replaces: "isRejected",
    make: () => () => Promise.resolve(false),
  },
  {
    name: "cancel-forgotten",
    file: "src/store/runs.ts",
    replaces: "requestCancel",
    make: () => () => Promise.resolve("already"),
  },
];

import { createHash } from "node:crypto";
import type { Facts, Plant, Replaced, Sent } from "./plant.ts";

const DERIVE = "src/ledger/derive.ts";
const NEXT = "src/ledger/next.ts";

/** Treats a key as used up as soon as `isEnough` holds for one of its sends. */
function usedUpAfter(isEnough: (send: Sent) => boolean): Plant["make"] {
  return (real) =>
    (facts: unknown, attempt: unknown, ...more: readonly unknown[]) =>
      real(facts, attempt, ...more) === true ||
      (attempt as Facts["attempts"][number]).sends.some(isEnough);
}

interface Step {
  readonly kind: string;
  readonly seq?: number;
  readonly terms?: unknown;
}

/** The part of `next` that plants use. */
type Next = (facts: Facts, wish: Sent | null, reading: Read | null, now: Now) => Step;

interface Read {
  readonly shownIds: readonly string[];
}

interface Now {
  readonly atMs: number;
  readonly serviceMs: number | null;
}

/** @param plant returns the replacement, given what the real one would do */
function insteadOfNext(plant: (next: Next) => Next): Plant["make"] {
  return (real: Replaced) => (operation, facts, wish, reading, now) =>
    plant((...given) => real(operation, ...given) as Step)(
      facts as Facts,
      wish as Sent | null,
      reading as Read | null,
      now as Now,
    );
}

/** Plants about which key and which bytes are sent next. */
export const OF_KEYS: readonly Plant[] = [
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
    name: "key-of-the-run",
    file: "src/ledger/write.ts",
    replaces: "insertSends",
    make: (real) => async (trx, sends) => {
      const opened = (await real(trx, sends)) as readonly {
        readonly subject: string;
        readonly seq: number;
        readonly terms: { readonly owner: string };
      }[];
      return opened.map((send) => {
        const { subject, seq, terms } = send;
        const digest = createHash("sha256")
          .update(`${terms.owner} ${subject} ${seq}`)
          .digest("hex");
        return { ...send, idempotencyKey: `pr1_${digest.slice(0, 48)}` };
      });
    },
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
    name: "endless-conflict",
    file: DERIVE,
    replaces: "isUsedUp",
    make:
      (real) =>
      (facts, attempt, ...more) => {
        const { sends, ...rest } = attempt as Facts["attempts"][number];
        const others = sends.filter(({ result }) => result !== "conflict");
        return real(facts, { ...rest, sends: others }, ...more);
      },
  },
  {
    name: "gate-without-next",
    file: NEXT,
    replaces: "next",
    make: insteadOfNext((next) => (facts, wish, reading, now) => {
      if (wish === null || reading === null) return next(facts, wish, reading, now);
      const isNewKey = facts.attempts.length === 0;
      const seq = facts.attempts.at(-1)?.seq ?? 1;
      return { kind: "send", seq, terms: wish, baseline: reading.shownIds, isNewKey } as Step;
    }),
  },
  {
    name: "resend-under-a-forgotten-key",
    file: NEXT,
    replaces: "next",
    make: insteadOfNext((next) => (facts, wish, reading, now) => {
      const step = next(facts, wish, reading, now);
      if (step.kind !== "wait" && step.kind !== "read") return step;
      const young = { openedAtMs: now.atMs, openedServiceMs: now.serviceMs };
      const attempts = facts.attempts.map((attempt) => ({
        ...attempt,
        sends: attempt.sends.map((send) => ({ ...send, ...young })),
      }));
      const other = next({ ...facts, attempts }, wish, reading, now);
      return other.kind === "send" && other.seq === facts.attempts.at(-1)?.seq ? other : step;
    }),
  },
  {
    name: "body-rebuilt-across-midnight",
    file: NEXT,
    replaces: "next",
    make: insteadOfNext((next) => (facts, wish, reading, now) => {
      const previous = facts.attempts.at(-1)?.sends.at(-1);
      if (wish === null || previous === undefined) return next(facts, wish, reading, now);
      const { path, body } = previous;
      const step = next(facts, { ...wish, path, body }, reading, now);
      return step.kind === "send" ? { ...step, terms: wish } : step;
    }),
  },
];

import type { Facts, Plant, Sent } from "./plant.ts";

const DERIVE = "src/ledger/derive.ts";
const READINGS = "src/ledger/readings.ts";

/** Counts a send with one of these results as closed. */
function closedBy(...results: readonly string[]): Plant["make"] {
  return (real) => (facts: unknown) =>
    (real(facts) as readonly Sent[]).filter(({ result }) => !results.includes(result));
}

interface Listed {
  readonly status: string;
  readonly createdAt: string | null;
}

/** Leaves out payments that the service shows from a lookup. */
function showing(isShown: (payment: Listed, begunMs: number) => boolean): Plant["make"] {
  return (real) => (begun, payments, payableId) => {
    const { begunAtMs } = begun as { readonly begunAtMs: number };
    const shown = (payments as readonly Listed[]).filter((each) => isShown(each, begunAtMs));
    return real(begun, shown, payableId);
  };
}

/** Plants about lookups: what they show, and when one is conclusive. */
export const OF_LOOKUPS: readonly Plant[] = [
  {
    name: "any-lookup-is-the-last-word",
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
    name: "window-by-the-fast-clock",
    file: DERIVE,
    replaces: "conclusiveAfterMs",
    make: (real) => (clocks) => {
      const isFast = (clocks as { readonly sandbox: boolean }).sandbox;
      return Number(real(clocks)) / (isFast ? 1_800 : 1);
    },
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
    name: "adoption-closes-a-send",
    file: DERIVE,
    replaces: "openSends",
    make: (real) => (facts) => {
      const adopted = (facts as Facts).attempts.filter(({ adoptedIds }) => adoptedIds.length > 0);
      const closed = new Set(adopted.flatMap(({ sends }) => sends));
      return (real(facts) as readonly Sent[]).filter((send) => !closed.has(send));
    },
  },
  {
    name: "lookup-of-the-first-page-only",
    file: "src/payments-api/pagination.ts",
    replaces: "readConsistently",
    make: () => async (_, readPage, pageSize) => {
      const read = readPage as (page: number, size: unknown) => Promise<{ items: unknown }>;
      return (await read(1, pageSize ?? 100)).items;
    },
  },
  {
    name: "lookup-that-counts-nothing",
    file: "src/payments-api/pagination.ts",
    replaces: "readConsistently",
    make: () => async (_, readPage) => {
      const read = readPage as (page: number, size: number) => Promise<{ items: unknown[] }>;
      const all: unknown[] = [];
      for (let page = 1; ; page += 1) {
        const { items } = await read(page, 100);
        if (items.length === 0) return all;
        all.push(...items);
      }
    },
  },
  {
    name: "lookup-with-a-status-filter",
    file: READINGS,
    replaces: "readingOf",
    make: showing(({ status }) => status === "processing" || status === "completed"),
  },
  {
    name: "lookup-with-created-after",
    file: READINGS,
    replaces: "readingOf",
    make: showing(
      ({ createdAt }, begunMs) => !(Date.parse(createdAt ?? "") < begunMs - 20 * 60_000),
    ),
  },
  {
    name: "restored-store-sends-at-once",
    file: "src/ledger/shown.ts",
    replaces: "waitAfterLoss",
    make: () => () => null,
  },
  {
    name: "baseline-read-anew",
    file: DERIVE,
    replaces: "accountedIds",
    make: (real) => (facts) => {
      const { lookups } = facts as Facts;
      const known = real(facts) as ReadonlySet<string>;
      return new Set([...known, ...lookups.flatMap(({ shownIds }) => shownIds)]);
    },
  },
];

import { sql } from "kysely";
import type { Plant } from "./plant.ts";

/** A failed bill is tried again on the next day of the calendar. */
function retriedWhere(isMeant: (facts: Failed) => boolean): Plant["make"] {
  return (real) => (given) => {
    const facts = given as Failed;
    if (!isMeant(facts)) return real(facts);
    const date = new Date(Date.parse(facts.today) + 86_400_000).toISOString().slice(0, 10);
    return { kind: "retry-on", date, ofAtMost: 3 };
  };
}

interface Failed {
  readonly failed: { readonly code: string | null };
  readonly retriesMade: number;
  readonly today: string;
}

/** Plants about what people and playbooks have said. */
export const OF_PEOPLE: readonly Plant[] = [
  {
    name: "approval-asked-at-planning-only",
    file: "src/store/line-approvals.ts",
    replaces: "approvedLines",
    make: () => (_, lines) =>
      Promise.resolve(
        new Set((lines as readonly { readonly payableId: string }[]).map((line) => line.payableId)),
      ),
  },
  {
    name: "expiry-ignored",
    file: "src/store/line-approvals.ts",
    replaces: "isApproved",
    make: (real) => () => real(0),
  },
  {
    name: "hold-asked-at-the-draw-only",
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
  {
    name: "claim-released-while-a-send-is-open",
    file: "src/store/open-subjects.ts",
    replaces: "mayStillPay",
    make: () => () => sql`(1 = 0)`,
  },
  {
    name: "retry-after-R02",
    file: "src/domain/retries/step.ts",
    replaces: "stepAfterFailure",
    make: retriedWhere(({ failed }) => failed.code === "R02"),
  },
  {
    name: "cap-of-three",
    file: "src/domain/retries/step.ts",
    replaces: "stepAfterFailure",
    make: retriedWhere(({ failed, retriesMade }) => failed.code === "R01" && retriesMade === 2),
  },
];

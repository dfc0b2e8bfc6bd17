import { sql } from "kysely";
import type { Plant } from "./plant.ts";

interface Returned {
  readonly codes: readonly (string | null)[];
  readonly retriesMade: number;
}

/** An approval ends by other facts than those that are. */
function endsAsIf(seen: (line: Returned) => Returned): Plant["make"] {
  return (real) => (line) => real(seen(line as Returned));
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

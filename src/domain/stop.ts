import { DECIDABLE, type LineState } from "../contracts/pay-run.ts";
import { recallOf } from "./cancellations/cut-off.ts";

interface Sum {
  readonly bills: number;
  readonly totalCents: number;
}

/** What of some bills a hold keeps back, and what of the rest can still be taken back. */
export interface StopSums {
  /** Not with the service: a hold keeps them back. */
  readonly waiting: Sum;
  /** With the service, which can still cancel them. */
  readonly recallable: Sum & {
    /** The business-clock instant at which the first of them can't be cancelled any more. */
    readonly earliestCutOffMs: number | null;
  };
  /** A request is under way: cancelled as soon as the service shows what it made. */
  readonly underWay: Sum;
  /** With the bank, too close to it, or in several payments, which the service doesn't cancel. */
  readonly gone: Sum;
}

/** Lines of one state and day. */
export interface StopLines {
  readonly state: LineState;
  readonly executionDate: string;
  readonly isSplit: boolean;
  readonly count: number;
  readonly cents: number;
}

const UNDER_WAY: readonly LineState[] = ["paying", "unknown"];

/** Says what a stop of these open lines comes to now. */
export function judgeStop(
  lines: readonly StopLines[],
  clock: { readonly businessMs: number; readonly scale: number },
): StopSums {
  const cutOffs: number[] = [];
  const kinds = Map.groupBy(lines, ({ state, executionDate, isSplit }): keyof StopSums => {
    if (DECIDABLE.includes(state)) return "waiting";
    if (UNDER_WAY.includes(state)) return "underWay";
    const recall = recallOf({ state, scheduledAt: executionDate, isSplit }, clock);
    if (recall === undefined) return "gone";
    if (recall.untilMs !== null) cutOffs.push(recall.untilMs);
    return "recallable";
  });
  const sumOf = (kind: keyof StopSums): Sum => {
    const of = kinds.get(kind) ?? [];
    return {
      bills: of.reduce((sum, { count }) => sum + count, 0),
      totalCents: of.reduce((sum, { cents }) => sum + cents, 0),
    };
  };
  const earliestCutOffMs = cutOffs.length === 0 ? null : Math.min(...cutOffs);
  return {
    waiting: sumOf("waiting"),
    recallable: { ...sumOf("recallable"), earliestCutOffMs },
    underWay: sumOf("underWay"),
    gone: sumOf("gone"),
  };
}

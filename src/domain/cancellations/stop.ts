import { LINE, type LineState } from "../../contracts/line-states.ts";
import type { Clock } from "../clock/clock.ts";
import { recallOf } from "./cut-off.ts";

interface Sum {
  readonly bills: number;
  readonly totalCents: number;
}

/**
 * Sums of bills to stop: those that a hold is on, and the rest by whether they can be
 * cancelled.
 */
export interface StopSums {
  /** Bills that the service doesn't have: a hold is on them. */
  readonly waiting: Sum;
  /** Bills that the service has and can still cancel. */
  readonly recallable: Sum & {
    /**
     * The business-clock instant after which the first of them can no longer be cancelled; null if
     * no such instant is known.
     */
    readonly earliestCutOffMs: number | null;
  };
  /**
   * Bills with a request under way: they are cancelled as soon as the service shows what it made.
   */
  readonly underWay: Sum;
  /**
   * Bills that are with the bank, too close to it, or paid in several payments, which the service
   * doesn't cancel.
   */
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

/** Sums these open lines by what a stop can do about them now. */
export function judgeStop(lines: readonly StopLines[], clock: Clock): StopSums {
  const cutOffs: number[] = [];
  const kinds = Map.groupBy(lines, ({ state, executionDate, isSplit }): keyof StopSums => {
    if (LINE.decidable.includes(state)) return "waiting";
    if (LINE.leased.includes(state)) return "underWay";
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

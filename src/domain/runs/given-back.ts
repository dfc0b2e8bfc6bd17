import type { LineState } from "../../contracts/line-states.ts";
import type { BillSum } from "../counted.ts";
import { withFullStop } from "../history-texts.ts";

/**
 * The state that people see for a parked bill that the next run plans and that waits for no person.
 */
export const GIVEN_BACK = "given-back";

type ShownState = LineState | typeof GIVEN_BACK;

interface Bill {
  readonly state: LineState;
  readonly givenBack?: true | undefined;
}

/** Returns a bill's state as people see it. */
export function shownBillState({ state, givenBack }: Bill): ShownState {
  return givenBack === true ? GIVEN_BACK : state;
}

/** Returns why a bill was parked, and which run has it or has had it since. */
export function reasonGivenBack(reason: string | null, takenUpBy: string | null): string | null {
  if (takenUpBy === null) return reason;
  const since = `${takenUpBy} has had it since.`;
  return reason === null || reason === "" ? since : `${withFullStop(reason)} ${since}`;
}

interface Sums {
  readonly byState: Readonly<Partial<Record<LineState, BillSum>>>;
  readonly givenBack?: BillSum | undefined;
}

/**
 * Returns the sums by state as people see them: bills that were given back are separate from those
 * that wait for a person.
 */
export function shownSums({
  byState,
  givenBack,
}: Sums): Readonly<Partial<Record<ShownState, BillSum>>> {
  const { parked, ...others } = byState;
  if (parked === undefined) return { ...others };
  if (givenBack === undefined) return { ...others, parked };
  const count = parked.count - givenBack.count;
  const cents = parked.cents - givenBack.cents;
  const left = count + cents === 0 ? {} : { parked: { ...parked, count, cents } };
  return { ...others, ...left, [GIVEN_BACK]: givenBack };
}

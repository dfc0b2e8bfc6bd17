import { spokenTime } from "./clock/spoken.ts";

/** Bills that are released, and the instant before which a restored store sends none. */
interface GoesOut {
  readonly bills: number;
  readonly zone: string;
  readonly notBefore: string | null;
}

/** `go out now`; of a store that was restored `go out after Mon, Nov 23, 9:00 AM New York`. */
export function goOut({ bills, zone, notBefore }: GoesOut, at: "now" | "then"): string {
  const go = bills === 1 ? "goes" : "go";
  return `${go} out ${notBefore === null ? at : `after ${spokenTime(notBefore, zone)}`}`;
}

/** Why it takes so long: nobody must think that what was paid before is paid again. */
export const AFTER_LOSS =
  "The store was restored: what was paid meanwhile shows by then, and is not paid again.";

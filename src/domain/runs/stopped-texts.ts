import { spokenTime } from "../clock/spoken.ts";

interface Ended {
  readonly by: string;
  /** ISO instant. */
  readonly at: string;
  readonly comment: string | null;
}

/**
 * Says who rejected or cancelled a run: `Cancelled by olga, Mon, Nov 23, 9:00 AM New York: wrong
 * week`.
 */
export function stoppedTexts({
  rejected,
  cancelled,
  zone,
}: {
  readonly rejected?: Ended | undefined;
  readonly cancelled?: Ended | undefined;
  readonly zone: string;
}): string[] {
  const text = (what: string, { by, at, comment }: Ended): string =>
    `${what} by ${by}, ${spokenTime(at, zone)}${comment === null ? "" : `: ${comment}`}`;
  return [
    ...(rejected === undefined ? [] : [text("Rejected", rejected)]),
    ...(cancelled === undefined ? [] : [text("Cancelled", cancelled)]),
  ];
}

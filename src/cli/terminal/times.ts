const NEW_YORK = new Intl.DateTimeFormat("en-US", {
  timeZone: "America/New_York",
  weekday: "short",
  month: "short",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
});

const NEW_YORK_DAY = new Intl.DateTimeFormat("en-US", {
  timeZone: "America/New_York",
  weekday: "short",
  month: "short",
  day: "numeric",
});

/** An instant as the bank's people say it: `Mon, Nov 23, 9:00 AM New York`. */
export function newYorkTime(instant: string): string {
  return `${NEW_YORK.format(new Date(instant))} New York`;
}

/** `Mon, Nov 23`, in New York. */
export function newYorkDay(instant: string): string {
  return NEW_YORK_DAY.format(new Date(instant));
}

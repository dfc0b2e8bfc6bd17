import { fine, type Reading, shown, wrong } from "../../texts.ts";

const UNTIL =
  /^((?:[01]\d|2[0-3]):[0-5]\d) (?:on the day|business day before|(\d{1,2}) business days before)$/;
export const UNTIL_PATTERN =
  "^([01][0-9]|2[0-3]):[0-5][0-9] (business day before|[0-9]{1,2} business days before)$";

export interface Until {
  /** `HH:MM` in New York. */
  readonly time: string;
  readonly businessDaysBefore: number;
}

/** Reads until when a withheld bill may be released, such as `17:00 business day before`. */
export function readUntil(input: unknown): Reading<Until> {
  const expected =
    'a time in New York and a day, such as "17:00 business day before" or "12:00 2 business days before"';
  if (typeof input !== "string") return wrong(`${shown(input)} is not a time`, expected);
  const match = UNTIL.exec(input);
  if (match === null) return wrong(`${shown(input)} does not say until when`, expected);
  const [, time = "", days] = match;
  const businessDaysBefore = input.endsWith("on the day") ? 0 : Number(days ?? 1);
  if (businessDaysBefore === 0) {
    return wrong(`${shown(input)} is too late: payments are sent by the day before`, expected);
  }
  return businessDaysBefore > 10
    ? wrong(`${shown(input)} is out of range`, "at most 10 business days before")
    : fine({ time, businessDaysBefore });
}

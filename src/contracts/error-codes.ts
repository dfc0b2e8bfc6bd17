import { ACTION_ERRORS } from "./errors/of-actions.ts";
import { DECISION_ERRORS } from "./errors/of-decisions.ts";
import { OUTAGE_ERRORS } from "./errors/of-outages.ts";
import { REQUEST_ERRORS } from "./errors/of-requests.ts";

/**
 * Every code that an answer's `error` may have. The API's description and docs/codes.md follow from
 * it.
 */
export const ERROR_CODES = {
  ...REQUEST_ERRORS,
  ...DECISION_ERRORS,
  ...ACTION_ERRORS,
  ...OUTAGE_ERRORS,
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

/** A status that refusals have. */
export type ErrorStatus = (typeof ERROR_CODES)[ErrorCode]["status"];

/** The codes of answers with a status. */
export type CodeOf<Status extends ErrorStatus> = {
  [Code in ErrorCode]: (typeof ERROR_CODES)[Code]["status"] extends Status ? Code : never;
}[ErrorCode];

/** The codes by status, as people look them up. */
export const ALL_ERROR_CODES: readonly ErrorCode[] = (
  Object.keys(ERROR_CODES) as readonly ErrorCode[]
).toSorted((one, other) => ERROR_CODES[one].status - ERROR_CODES[other].status);

/** Returns the codes that answers with a status may have. */
export function errorCodesOf(status: ErrorStatus): readonly ErrorCode[] {
  return ALL_ERROR_CODES.filter((code) => ERROR_CODES[code].status === status);
}

import { z } from "@hono/zod-openapi";
import { ALL_ERROR_CODES } from "../contracts/error-codes.ts";
import {
  BILL_CODES,
  LEFT_OUT_CODES,
  SENT_DECISION_CODES,
  type BankReturnCode,
} from "../contracts/reason-codes.ts";

/**
 * Returns the schema of one of these codes: clients get them as a list, and codes of later versions
 * parse.
 */
function oneOf(codes: readonly string[]) {
  return z.string().openapi({ enum: [...new Set(codes)] });
}

/** Does the same for what may have no code. */
function oneOfOrNull(codes: readonly string[]) {
  return z
    .string()
    .nullable()
    .openapi({ enum: [...new Set(codes), null] });
}

/** The bank's codes, whichever of them Nacha's rules give a meaning by now. */
const BANK_RETURN_CODES = Array.from(
  { length: 100 },
  (_, number) => `R${String(number).padStart(2, "0")}` as BankReturnCode,
);

/** Code of a refusal, among other things of an answer. */
export const errorCode = oneOf(ALL_ERROR_CODES);

/** Why a decision doesn't count. */
export const refusedDecisionCode = oneOf([...ALL_ERROR_CODES, ...SENT_DECISION_CODES]);

/** Why a plan leaves a bill out. */
export const leftOutCode = oneOf(LEFT_OUT_CODES);

const REASONS = [...BILL_CODES, ...BANK_RETURN_CODES];

/** Why a bill of a run, or its retry, stands where it stands. */
export const reasonCode = oneOf(REASONS);

/** The same where there may be no reason. */
export const reasonCodeOrNull = oneOfOrNull(REASONS);

/** The same among bills of which some were left out. */
export const anyReasonCodeOrNull = oneOfOrNull([...LEFT_OUT_CODES, ...REASONS]);

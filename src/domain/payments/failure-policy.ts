import type { BankReturnCode } from "../../contracts/reason-codes.ts";
import { composed } from "../composed.ts";
import { withFullStop } from "../history-texts.ts";
import {
  isBankReturnCode,
  isReinitiable,
  REINITIATION_DAYS,
  REINITIATIONS_MAX,
  RETURN_CODES,
  type ReturnCode,
} from "./return-codes.ts";

/** The classification of a failed or returned payment. */
export interface FailureClass {
  /** ACH return code; null if the text names none. */
  readonly code: BankReturnCode | null;
  /** Whose bank account or act caused it. */
  readonly whose: ReturnCode["whose"];
  /** True if its code allows another try under the same approval. */
  readonly mayBeRetried: boolean;
  /** What happened, as one sentence. */
  readonly said: string;
  /** The same, in the service's own words if they name the code and say what it means. */
  readonly cause: string;
  /** What a person can do, in a few sentences. */
  readonly toDo: string;
}

const NEW_PAYMENT =
  "Paying it again is a new payment: once a person has it tried again, the next run asks for a new approval.";

/**
 * Wordings and the codes that they mean, for reasons that name no code. They match texts as
 * `wordsOf` writes them.
 */
const PATTERNS: readonly (readonly [RegExp, BankReturnCode])[] = [
  [/\b(insufficient funds|not? sufficient funds|non sufficient funds|nsf)\b/i, "R01"],
  [/\buncollected( funds)?\b/i, "R09"],
  [/\baccount (is |was |has been )?closed\b|\bclosed account\b/i, "R02"],
  [/\bno account\b|\bunable to locate( the)? account\b|\baccount not found\b/i, "R03"],
  [/\binvalid account( number)?\b/i, "R04"],
  [/\bcorporate customer\b.*\bnot authori[sz]ed\b/i, "R29"],
  [/\bauthori[sz]ation (was |has been )?revoked\b|\brevoked authori[sz]ation\b/i, "R07"],
  [/\bnot in accordance with the terms\b|\boutside the terms\b/i, "R11"],
  [/\bunauthori[sz]ed( debit| entry)?\b|\bnot authori[sz]ed\b/i, "R10"],
  [/\b(payment stopped|stop payment)\b/i, "R08"],
  [/\baccount (is |was )?frozen\b|\bfrozen account\b/i, "R16"],
  [/\bnon ?transaction account\b/i, "R20"],
  [/\bduplicate entry\b/i, "R24"],
  [/\b(credit|entry) refused by receiver\b/i, "R23"],
  [/\bquestionable\b/i, "R17"],
  [/\bdeceased\b/i, "R15"],
];

/**
 * Classifies a failure by the service's free text (API specification, section 2).
 *
 * An `R` code in the text decides, then a known wording. A text that matches nothing, or names
 * several codes, goes to a person.
 */
export function classifyFailure(failureReason: string | null | undefined): FailureClass {
  const text = (failureReason ?? "").trim();
  const code = returnCodeOf(failureWords(text));
  const known = code === null ? undefined : RETURN_CODES[code];
  if (code === null || known === undefined)
    return { code, mayBeRetried: false, ...unknownReason(text) };
  const { whose, means, toDo, mayBeReinitiated: mayBeRetried } = known;
  const after = mayBeRetried
    ? `Nacha allows ${REINITIATIONS_MAX} retries, within ${REINITIATION_DAYS} days of the first settlement.`
    : NEW_PAYMENT;
  const said = `The bank says ${code}, ${means}.`;
  const cause = namesAndSays(text, code) ? withFullStop(cut(text)) : said;
  return { code, whose, mayBeRetried, said, cause, toDo: `${toDo} ${after}` };
}

/**
 * True if a text names its code and says what it means: “R02 Account closed” needs no translation,
 * “R02” and “nsf” do.
 */
function namesAndSays(text: string, code: BankReturnCode): boolean {
  const words = failureWords(text);
  const says = PATTERNS.some(([pattern, name]) => name === code && pattern.test(words));
  return says && codesIn(words).includes(code);
}

/**
 * Returns the strictest class of a line's failures, which may differ if its payment was split: one
 * failure that must be parked parks the line.
 */
export function classifyFailures(
  failures: readonly { readonly failureReason: string | null }[],
): FailureClass {
  const classes = failures.map((failure) => classifyFailure(failure.failureReason));
  return (
    classes.find(({ mayBeRetried }) => !mayBeRetried) ?? classes[0] ?? classifyFailure(undefined)
  );
}

/**
 * Returns a reason as words with spaces between them. The specification only says that
 * `failureReason` is a text, and services write `Insufficient funds`, `INSUFFICIENT_FUNDS`,
 * `insufficient-funds` and `InsufficientFunds`.
 */
export function failureWords(failureReason: string): string {
  return composed(failureReason)
    .replaceAll(/(\p{Ll}|\bR\d{2})(\p{Lu})/gu, "$1 $2")
    .replaceAll(/[\s_-]+/g, " ");
}

/** Returns the return codes in words of a reason, which services write `R29`, `r-29` and `R 29`. */
export function codesIn(words: string): BankReturnCode[] {
  const named = [...words.matchAll(/\bR ?(\d{2})\b/gi)].map(([, digits]) => `R${digits}`);
  return named.filter(isBankReturnCode);
}

/** If the words match several codes, one that must not be retried wins. */
function returnCodeOf(text: string): BankReturnCode | null {
  const codes = new Set(codesIn(text));
  if (codes.size > 1) return null;
  const [code] = codes;
  if (code !== undefined) return code;
  const meant = PATTERNS.filter(([pattern]) => pattern.test(text)).map(([, name]) => name);
  return meant.find((name) => !isReinitiable(name)) ?? meant[0] ?? null;
}

function unknownReason(text: string): Pick<FailureClass, "whose" | "said" | "cause" | "toDo"> {
  if (/\binsufficient balance\b/i.test(failureWords(text))) {
    const said = "The service's balance did not cover the payment on its day.";
    return { whose: "payer", said, cause: said, toDo: `Deposit money. ${NEW_PAYMENT}` };
  }
  const said = text === "" ? "The service gave no reason." : `The service said: "${cut(text)}".`;
  const toDo =
    "It fits no known return code. Ask the bank or the vendor, then have it tried again, or say that it was paid elsewhere or is given up.";
  return { whose: "unknown", said, cause: said, toDo: `${toDo} ${NEW_PAYMENT}` };
}

function cut(text: string): string {
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

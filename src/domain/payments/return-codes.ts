import type { BankReturnCode } from "../../contracts/reason-codes.ts";

/** The meaning of an ACH return code, and what it means for the payer. */
export interface ReturnCode {
  /** Its name, shortened. */
  readonly means: string;
  /**
   * Whose bank account or act caused it; `either` if what else is known of the payment decides
   * (`whoseAccount`), `unknown` if the code is about no account.
   */
  readonly whose: "payer" | "payee" | "either" | "unknown";
  /**
   * What of the payer refuses debits from now on: the whole account, its authorization, or, as a
   * stop payment may, this one entry; null if no debit was refused.
   */
  readonly refuses: "account" | "authorization" | "entry" | null;
  /** True if the same entry may be sent again, within Nacha's limits. */
  readonly mayBeReinitiated: boolean;
  /** True if the vendor's new bank details fix it; a payment after that is a new one. */
  readonly mendedByNewDetails: boolean;
  /** What a person can do. */
  readonly toDo: string;
}

/** How many times Nacha allows one entry to be reinitiated. */
export const REINITIATIONS_MAX = 2;

/** Days after the first entry's settlement during which it may be reinitiated. */
export const REINITIATION_DAYS = 180;

const PUT_MONEY_IN = "Put money in.";
const NEW_DETAILS =
  "Ask the vendor for new bank details by a channel you already know, and enter them.";
const STOP =
  "Stop: a new authorization is needed before anything is debited again. Talk to the bank.";
const BY_HAND = "Talk to the vendor; this one is settled by hand.";
const ASK_BANK = "Ask the bank what to correct before anything is paid again.";
const OF_CHECKS = "It is about checks that were turned into debits. Ask the bank why it came back.";
const OF_ENROLLMENT =
  "It is about enrollments with a federal agency. Ask the bank why it came back.";
const BETWEEN_BANKS = "The banks disagree about a return. Ask the bank where the money is.";
const OF_GATEWAY = "It is about payments abroad. Ask the bank why it came back.";

/**
 * Every ACH return code, and the only place that says what may be paid again after it.
 *
 * Sources. Codes and names: Appendix Four of the Nacha Operating Rules, as repeated by the public
 * list of moov-io/ach (`addenda99.go`) and processors' documentation; numbers missing there are not
 * assigned. What may be reinitiated: subsection 2.12.4 of the same rules, as banks' originator
 * guides repeat it. That is R01 and R09, at most twice, within 180 days of the first entry's
 * settlement, with the same amount and company. R08 needs a new authorization from the receiver and
 * R11 a corrected entry: both are new payments here. The rulebook itself was not available; confirm
 * these rules with your bank.
 */
export const RETURN_CODES: Readonly<Record<string, ReturnCode>> = {
  R01: bounce("insufficient funds", PUT_MONEY_IN),
  R02: accountDetails("account closed", NEW_DETAILS),
  R03: accountDetails(
    "no such account, or not of that name",
    "Check the account number with the vendor by a channel you already know, and correct it.",
  ),
  R04: accountDetails("invalid account number", NEW_DETAILS),
  R05: debitRefused("authorization", "debit of a consumer's account that was not authorised", STOP),
  R06: other("returned because the sending bank asked for it", ASK_BANK),
  R07: debitRefused("authorization", "authorization revoked", STOP),
  R08: debitRefused(
    "entry",
    "payment stopped by the account's holder",
    "Find out who stopped it and why; pay again only with their consent.",
  ),
  R09: bounce(
    "uncollected funds: deposits in the account had not cleared",
    "Wait until these deposits have cleared, or put money in.",
  ),
  R10: debitRefused(
    "authorization",
    "the account's holder says that the debit was not authorised",
    STOP,
  ),
  R11: debitRefused(
    "authorization",
    "the debit was outside the terms of its authorization",
    "Find what differs: a corrected payment is possible within 60 days of the return.",
  ),
  R12: accountDetails("branch sold to another bank", NEW_DETAILS),
  R13: accountDetails("the bank can't receive ACH payments at that routing number", NEW_DETAILS),
  R14: payee("the representative payee has died or can't act any more", BY_HAND),
  R15: payee("the account's holder or beneficiary has died", BY_HAND),
  R16: either(
    "account frozen",
    "Stop: ask the bank, and the vendor for another account, before paying again.",
  ),
  R17: other(
    "questionable entry",
    "Check the bill and the vendor's bank details for fraud before anything is paid again.",
  ),
  R18: other("improper effective entry date", ASK_BANK),
  R19: other("error in the amount", ASK_BANK),
  R20: accountDetails("the account does not take such payments", NEW_DETAILS),
  R21: other("invalid company identification", ASK_BANK),
  R22: other("invalid individual id", ASK_BANK),
  R23: payee(
    "the receiver refused the payment",
    "Ask the vendor why; pay again only with their consent.",
  ),
  R24: other(
    "duplicate entry",
    "Don't pay again: check with the vendor whether the bill is paid, then say that it was paid elsewhere, or give it up.",
  ),
  R25: other("error in the addenda", ASK_BANK),
  R26: other("error in a mandatory field", ASK_BANK),
  R27: other("error in the trace number", ASK_BANK),
  R28: other("wrong check digit of the routing number", ASK_BANK),
  R29: debitRefused(
    "account",
    "the paying company did not authorise the debit",
    "Tell the bank to allow the service's company id, within 2 banking days.",
  ),
  R30: other("the bank does not take part in check truncation", OF_CHECKS),
  R31: other("return that the sending bank permitted", ASK_BANK),
  R32: other("the receiving bank can't settle", ASK_BANK),
  R33: other("destroyed check returned", OF_CHECKS),
  R34: other("the receiving bank takes part with limits", ASK_BANK),
  R35: other("improper debit", ASK_BANK),
  R36: other("improper credit", ASK_BANK),
  R37: other("the check itself was presented", OF_CHECKS),
  R38: other("the check itself was stopped", OF_CHECKS),
  R39: other("improper check", OF_CHECKS),
  R40: other("enrollment returned by the agency", OF_ENROLLMENT),
  R41: other("invalid transaction code of an enrollment", OF_ENROLLMENT),
  R42: other("wrong routing number of an enrollment", OF_ENROLLMENT),
  R43: other("invalid account number of an enrollment", OF_ENROLLMENT),
  R44: other("invalid individual id of an enrollment", OF_ENROLLMENT),
  R45: other("invalid name of an enrollment", OF_ENROLLMENT),
  R46: other("invalid representative payee of an enrollment", OF_ENROLLMENT),
  R47: other("duplicate enrollment", OF_ENROLLMENT),
  R50: other("state law does not allow the check to be re-presented", OF_CHECKS),
  R51: other("the check was not eligible", OF_CHECKS),
  R52: other("the check was stopped", OF_CHECKS),
  R53: other("the check was presented as well", OF_CHECKS),
  R61: other("misrouted return", BETWEEN_BANKS),
  R62: other("return of an erroneous or reversing entry", BETWEEN_BANKS),
  R67: other("duplicate return", BETWEEN_BANKS),
  R68: other("untimely return", BETWEEN_BANKS),
  R69: other("errors in a return", BETWEEN_BANKS),
  R70: other("permitted return not accepted", BETWEEN_BANKS),
  R71: other("misrouted dishonored return", BETWEEN_BANKS),
  R72: other("untimely dishonored return", BETWEEN_BANKS),
  R73: other("the return was timely", BETWEEN_BANKS),
  R74: other("corrected return", BETWEEN_BANKS),
  R75: other("the return was no duplicate", BETWEEN_BANKS),
  R76: other("no errors were found in the return", BETWEEN_BANKS),
  R77: other("dishonored return not accepted", BETWEEN_BANKS),
  R80: other("payment abroad coded wrongly", OF_GATEWAY),
  R81: other("the gateway does not take part", OF_GATEWAY),
  R82: other("invalid bank abroad", OF_GATEWAY),
  R83: other("the bank abroad can't settle", OF_GATEWAY),
  R84: other("not processed by the gateway", OF_GATEWAY),
  R85: other("payment abroad sent as one at home", OF_GATEWAY),
};

/** True for a text that has the form of a return code, known or not. */
export function isBankReturnCode(text: string): text is BankReturnCode {
  return /^R\d{2}$/.test(text);
}

/** True if Nacha allows a return with this code to be reinitiated; false for unknown codes. */
export function isReinitiable(code: string | null): boolean {
  return code !== null && RETURN_CODES[code]?.mayBeReinitiated === true;
}

/** What of the payer refuses debits after this code; null if no debit was refused, or unknown. */
export function debitRefusedBy(code: string | null): ReturnCode["refuses"] {
  return code === null ? null : (RETURN_CODES[code]?.refuses ?? null);
}

/** True if a vendor's new bank details fix the cause of this code. */
export function isMendedByNewDetails(code: string): boolean {
  return RETURN_CODES[code]?.mendedByNewDetails === true;
}

function bounce(means: string, toDo: string): ReturnCode {
  return { ...code("payer", means, toDo), mayBeReinitiated: true };
}

function debitRefused(
  refuses: NonNullable<ReturnCode["refuses"]>,
  means: string,
  toDo: string,
): ReturnCode {
  return { ...code("payer", means, toDo), refuses };
}

function accountDetails(means: string, toDo: string): ReturnCode {
  return { ...code("either", means, toDo), mendedByNewDetails: true };
}

function either(means: string, toDo: string): ReturnCode {
  return code("either", means, toDo);
}

function payee(means: string, toDo: string): ReturnCode {
  return code("payee", means, toDo);
}

function other(means: string, toDo: string): ReturnCode {
  return code("unknown", means, toDo);
}

function code(whose: ReturnCode["whose"], means: string, toDo: string): ReturnCode {
  return { means, whose, refuses: null, mayBeReinitiated: false, mendedByNewDetails: false, toDo };
}

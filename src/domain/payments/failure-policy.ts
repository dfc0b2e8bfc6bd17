/** What a failed or returned payment asks for. */
export interface FailureClass {
  /** ACH return code, or null where the text names none. */
  readonly code: string | null;
  /** Whose bank account or act is behind it. */
  readonly whose: "payer" | "payee" | "unknown";
  readonly action: "retry-next-business-day" | "park";
  /** Reinitiations allowed: 2 by Nacha's rule for debits, else 0. */
  readonly maxRetries: 2 | 0;
  /** Days after the original settlement within which a reinitiation is allowed. */
  readonly withinDays: 180;
  /** What happened and what a person can do, in one or two sentences. */
  readonly text: string;
}

interface Rule {
  readonly whose: FailureClass["whose"];
  readonly retry: boolean;
  readonly text: string;
}

/** Reinitiations of one entry that Nacha allows. */
export const REINITIATIONS_MAX = 2;

/** The only two returns that Nacha lets an originator reinitiate without a new authorization. */
const RETRYABLE_CODES = ["R01", "R09"] as const;

const RULES: Readonly<Record<string, Rule>> = {
  R01: payer(
    "Insufficient funds: the paying bank account did not hold the money. Put money in; it is tried again the next business day, twice at most.",
    true,
  ),
  R02: payee(
    "Account closed: the vendor's bank account no longer exists. Ask the vendor for new bank details by a channel you already know, enter them, then resolve with --retry.",
  ),
  R03: payee(
    "No such account: the bank can't match the vendor's account and name. Check the account number with the vendor, correct it, then resolve with --retry.",
  ),
  R04: payee(
    "Invalid account number: the vendor's account number can't exist at that bank. Get the right number from the vendor, correct it, then resolve with --retry.",
  ),
  R05: payer(
    "Unauthorised debit of a consumer account. Stop; a new authorization is needed. Talk to the bank: it may be disputed for 60 days.",
  ),
  R07: payer(
    "Authorization revoked. Stop; a new authorization is needed before anything is debited again.",
  ),
  R08: payer(
    "Payment stopped by the account's holder. Find out who stopped it and why; pay again only with their consent.",
  ),
  R09: payer(
    "Uncollected funds: deposits in the paying account had not cleared. It is tried again the next business day, twice at most.",
    true,
  ),
  R10: payer(
    "The account's holder says that the debit was not authorised. Stop; a new authorization is needed. Talk to the bank: it may be disputed for 60 days.",
  ),
  R11: payer(
    "The debit was outside the authorization's terms. Find what differs; a corrected payment is possible within 60 days of the return.",
  ),
  R12: payee(
    "The vendor's bank branch was sold to another bank. Ask the vendor for new bank details, enter them, then resolve with --retry.",
  ),
  R13: payee(
    "The vendor's bank can't receive ACH payments at that routing number. Ask the vendor for new bank details, enter them, then resolve with --retry.",
  ),
  R14: payee(
    "The representative payee of the account has died or can't act any more. Talk to the vendor; this one is settled by hand.",
  ),
  R15: payee(
    "The account's holder has died. Talk to the vendor or the estate; this one is settled by hand.",
  ),
  R16: unknown(
    "The account is frozen. Stop; ask the bank, and the vendor for another account, before paying again.",
  ),
  R17: unknown(
    "The bank questions the entry. Check the bill and the vendor's bank details for fraud before anything is paid again.",
  ),
  R20: payee(
    "The vendor's account does not take such payments. Ask the vendor for another account, enter it, then resolve with --retry.",
  ),
  R23: payee(
    "The vendor refused the payment. Ask the vendor why; pay again only with their consent.",
  ),
  R24: unknown(
    "The bank saw a duplicate. Don't pay again: check with the vendor whether the bill is paid, then resolve with --paid-elsewhere or --give-up.",
  ),
  R29: payer(
    "The paying company's bank was not authorised to accept this debit. Tell the bank to allow the service's company id (within 2 banking days), then resolve with --retry: the next run asks for a new approval.",
  ),
};

/** Texts that stand for a code; written for free text without a code, as `wordsOf` gives it. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(insufficient funds|not? sufficient funds|non sufficient funds|nsf)\b/i, "R01"],
  [/\buncollected( funds)?\b/i, "R09"],
  [/\baccount (is |was |has been )?closed\b|\bclosed account\b/i, "R02"],
  [/\bno account\b|\bunable to locate( the)? account\b|\baccount not found\b/i, "R03"],
  [/\binvalid account( number)?\b/i, "R04"],
  [/\bcorporate customer\b.*\bnot authori[sz]ed\b/i, "R29"],
  [/\bauthori[sz]ation revoked\b/i, "R07"],
  [/\b(payment stopped|stop payment)\b/i, "R08"],
  [/\baccount (is |was )?frozen\b|\bfrozen account\b/i, "R16"],
  [/\bnon ?transaction account\b/i, "R20"],
  [/\bduplicate entry\b/i, "R24"],
  [/\b(credit|entry) refused by receiver\b/i, "R23"],
  [/\bquestionable\b/i, "R17"],
  [/\bdeceased\b/i, "R15"],
];

/**
 * Classifies a failure by the free text that the service gives (API specification, section 2).
 *
 * An `R`-code as a word decides; else a known wording; what matches nothing, or names several
 * codes, goes to a person.
 */
export function classifyFailure(failureReason: string | null | undefined): FailureClass {
  const text = (failureReason ?? "").trim();
  const code = returnCodeOf(wordsOf(text));
  const rule = code === null ? undefined : RULES[code];
  if (rule !== undefined) {
    return {
      code,
      whose: rule.whose,
      action: rule.retry ? "retry-next-business-day" : "park",
      maxRetries: rule.retry ? REINITIATIONS_MAX : 0,
      withinDays: 180,
      text: rule.text,
    };
  }
  return { code, ...parkedFor(text) };
}

/**
 * The harshest class of several failures of one line (a split may fail in several ways): one that
 * must be parked parks all.
 */
export function classifyFailures(
  failures: readonly { readonly failureReason: string | null }[],
): FailureClass {
  const classes = failures.map((failure) => classifyFailure(failure.failureReason));
  return (
    classes.find((found) => found.action === "park") ?? classes[0] ?? classifyFailure(undefined)
  );
}

/** True where Nacha allows a reinitiation of a return with this code at all. */
export function isReinitiable(code: string | null): boolean {
  return RETRYABLE_CODES.some((retryable) => retryable === code);
}

/** Returns by which the account's holder says no to the debit: only a new authorization is a yes. */
const REVOKED_CODES: readonly string[] = ["R05", "R07", "R10", "R29"];

/** True where nothing approved before may be debited again, whoever asks. */
export function needsNewAuthorization(code: string | null): boolean {
  return code !== null && REVOKED_CODES.includes(code);
}

/**
 * A reason as words with spaces between them: `failureReason` is only said to be a text, and
 * services write `Insufficient funds`, `INSUFFICIENT_FUNDS`, `insufficient-funds` and
 * `InsufficientFunds`.
 */
export function wordsOf(failureReason: string): string {
  return failureReason.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2").replaceAll(/[\s_-]+/g, " ");
}

/** Where words stand for several codes, one that must not be tried again goes before the others. */
function returnCodeOf(text: string): string | null {
  const codes = new Set([...text.matchAll(/\bR\d{2}\b/gi)].map((match) => match[0].toUpperCase()));
  if (codes.size > 1) return null;
  const [code] = codes;
  if (code !== undefined) return code;
  const meant = PATTERNS.filter(([pattern]) => pattern.test(text)).map(([, name]) => name);
  return meant.find((name) => !isReinitiable(name)) ?? meant[0] ?? null;
}

function parkedFor(text: string): Omit<FailureClass, "code"> {
  const parked = { action: "park", maxRetries: 0, withinDays: 180 } as const;
  if (/\binsufficient balance\b/i.test(wordsOf(text))) {
    return {
      ...parked,
      whose: "payer",
      text: "The service's balance did not cover the payment on its day. Deposit money, then resolve with --retry.",
    };
  }
  const said = text === "" ? "The service gave no reason." : `The service said: "${cut(text)}".`;
  return {
    ...parked,
    whose: "unknown",
    text: `${said} It fits no known return code, so nothing is tried again by itself. Ask the bank or the vendor, then resolve with --retry, --paid-elsewhere or --give-up.`,
  };
}

function cut(text: string): string {
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

function payer(text: string, retry = false): Rule {
  return { whose: "payer", retry, text };
}

function payee(text: string): Rule {
  return { whose: "payee", retry: false, text };
}

function unknown(text: string): Rule {
  return { whose: "unknown", retry: false, text };
}

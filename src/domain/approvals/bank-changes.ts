import type { PlanLine } from "../../contracts/pay-run.ts";

/**
 * How an approver verified that a new bank account belongs to the vendor: by calling a number that
 * was known before the change.
 */
export interface VerifiedBankChange {
  readonly contactId: string;
  /** The person whom the approver spoke with. */
  readonly person: string;
  /** The number, known from before the change. */
  readonly phone: string;
}

/** A vendor that a plan flags for a changed bank account. */
export interface BankChange {
  readonly contactId: string;
  readonly contactName: string | null;
  /** What the plan says about the change. */
  readonly text: string;
}

/** Returns the bank change for which a line is flagged; undefined if there is none. */
export function bankChangeOf({
  flags,
  contactId,
  contactName,
}: Pick<PlanLine, "flags" | "contactId" | "contactName">): BankChange | undefined {
  const text = flags.find(({ kind }) => kind === "changed-bank-account")?.text;
  return text === undefined ? undefined : { contactId, contactName, text };
}

/** Returns the changes for which no verification was given, one for each vendor. */
export function unverified(
  changes: readonly BankChange[],
  said: readonly VerifiedBankChange[],
): readonly BankChange[] {
  const known = new Set(said.map(({ contactId }) => contactId));
  const byVendor = new Map(changes.map((change) => [change.contactId, change]));
  return [...byVendor.values()].filter(({ contactId }) => !known.has(contactId));
}

/** The fewest digits of a number on which a person can be called. */
const DIGITS_LEAST = 7;

/** Answers that name no person. */
const NO_NAME = /^(yes|yep|no|nope|ok|okay|done|called|verified|none|nobody|n\/?a|true)\W*$/i;

/**
 * Returns, as a whole sentence, why a text doesn't name the person who was called; undefined if it
 * does.
 */
export function personProblem(text: string): string | undefined {
  const isName = (text.match(/\p{L}/gu) ?? []).length >= 2 && !NO_NAME.test(text.trim());
  return isName ? undefined : "Say the name of the person you called, or leave these bills out.";
}

/**
 * Returns, as a whole sentence, why a text can't be the number that was called; undefined if it
 * can.
 */
export function phoneProblem(text: string): string | undefined {
  const digits = text.match(/\d/g) ?? [];
  return digits.length >= DIGITS_LEAST && new Set(digits).size > 1
    ? undefined
    : `Say the whole number you called (${DIGITS_LEAST} digits or more), known from before the change.`;
}

/** Returns why an answer doesn't describe a call; undefined if it does. */
export function verifiedProblem({ person, phone }: Omit<VerifiedBankChange, "contactId">) {
  return personProblem(person) ?? phoneProblem(phone);
}

const VERIFIED_MOST = 1_000;
const TEXT_MAX = 1_000;

/** Reads a signed decision's claim about verified bank changes; undefined if it is malformed. */
export function readVerifiedBankChanges(claim: unknown): readonly VerifiedBankChange[] | undefined {
  if (!Array.isArray(claim) || claim.length > VERIFIED_MOST) return undefined;
  const read: VerifiedBankChange[] = [];
  for (const each of claim as readonly unknown[]) {
    if (typeof each !== "object" || each === null) return undefined;
    const { contactId, person, phone, ...rest } = each as Readonly<Record<string, unknown>>;
    if (!isText(contactId) || !isText(person) || !isText(phone)) return undefined;
    if (Object.keys(rest).length > 0) return undefined;
    read.push({ contactId, person, phone });
  }
  return read;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "" && value.length <= TEXT_MAX;
}

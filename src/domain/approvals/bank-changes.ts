import type { PlanLine } from "../../contracts/pay-run.ts";

/**
 * How somebody has made sure that a vendor's new bank account is the vendor's: by a call to a
 * number that they knew before.
 */
export interface VerifiedBankChange {
  readonly contactId: string;
  /** Whom they spoke with. */
  readonly person: string;
  /** The number, known from before the change. */
  readonly phone: string;
}

/** A vendor whose bank account is another one than before. */
export interface BankChange {
  readonly contactId: string;
  readonly contactName: string | null;
  /** What the plan says of it. */
  readonly text: string;
}

/** Of a line whose vendor has another bank account; undefined where it has not. */
export function bankChangeOf({
  flags,
  contactId,
  contactName,
}: Pick<PlanLine, "flags" | "contactId" | "contactName">): BankChange | undefined {
  const text = flags.find(({ kind }) => kind === "changed-bank-account")?.text;
  return text === undefined ? undefined : { contactId, contactName, text };
}

/** Those that nobody has said anything of, each once. */
export function unverified(
  changes: readonly BankChange[],
  said: readonly VerifiedBankChange[],
): readonly BankChange[] {
  const known = new Set(said.map(({ contactId }) => contactId));
  const byVendor = new Map(changes.map((change) => [change.contactId, change]));
  return [...byVendor.values()].filter(({ contactId }) => !known.has(contactId));
}

/** A number that somebody can be called on has at least so many digits. */
const DIGITS_LEAST = 7;

/** Words that answer no question of who. */
const NO_NAME = /^(yes|yep|no|nope|ok|okay|done|called|verified|none|nobody|n\/?a|true)\W*$/i;

/** Why a text names nobody who was called, as a whole sentence; undefined where it does. */
export function personProblem(text: string): string | undefined {
  const isName = (text.match(/\p{L}/gu) ?? []).length >= 2 && !NO_NAME.test(text.trim());
  return isName ? undefined : "Say the name of the person you called, or leave these bills out.";
}

/** Why a text is no number on which somebody was called, as a whole sentence; undefined where it is. */
export function phoneProblem(text: string): string | undefined {
  const digits = text.match(/\d/g) ?? [];
  return digits.length >= DIGITS_LEAST && new Set(digits).size > 1
    ? undefined
    : `Say the whole number you called (${DIGITS_LEAST} digits or more), known from before the change.`;
}

/** Why an answer tells of no call; undefined where it does. */
export function verifiedProblem({ person, phone }: Omit<VerifiedBankChange, "contactId">) {
  return personProblem(person) ?? phoneProblem(phone);
}

const VERIFIED_MOST = 1_000;
const TEXT_MAX = 1_000;

/** Reads what a signed decision claims; undefined where it is something else. */
export function readVerifiedBankChanges(claim: unknown): readonly VerifiedBankChange[] | undefined {
  if (!Array.isArray(claim) || claim.length > VERIFIED_MOST) return undefined;
  const read: VerifiedBankChange[] = [];
  for (const each of claim as readonly unknown[]) {
    if (typeof each !== "object" || each === null) return undefined;
    const { contactId, person, phone } = each as Readonly<Record<string, unknown>>;
    if (!isText(contactId) || !isText(person) || !isText(phone)) return undefined;
    read.push({ contactId, person, phone });
  }
  return read;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "" && value.length <= TEXT_MAX;
}

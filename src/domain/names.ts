/** The kinds of things that people name in a command or a search. */
export const NAMED_KINDS = [
  "bill",
  "vendor",
  "payment",
  "account",
  "run",
  "playbook",
  "hold",
] as const;

export type NamedKind = (typeof NAMED_KINDS)[number];

/** Kinds whose names the store keeps. */
const KEPT_KINDS = ["bill", "vendor", "account"] as const satisfies readonly NamedKind[];

export type KeptKind = (typeof KEPT_KINDS)[number];

export function isKept(kind: NamedKind | null): kind is KeptKind {
  return KEPT_KINDS.some((kept) => kept === kind);
}

/** The names of a bill, a vendor or an account, besides its id. */
export interface Name {
  readonly kind: KeptKind;
  readonly id: string;
  /** A bill's number, such as BILL-000071, or an account's last four. */
  readonly number: string | null;
  /** Name of the vendor (also for a bill) or of the account. */
  readonly name: string | null;
  /** Vendor of a bill. */
  readonly contactId: string | null;
  /** Total of a bill. */
  readonly amountCents: number | null;
}

/** Returns a funding account's name for people: `Operating ··1234`, or its id if it has no name. */
export function accountName(id: string, { name, number }: Pick<Name, "name" | "number">): string {
  return `${name ?? id}${number === null ? "" : ` ··${number}`}`;
}

/** Returns a name as it is compared: without accents, capitals and needless space. */
export function folded(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/\s+/g, " ").trim();
}

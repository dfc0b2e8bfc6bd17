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

/** What is said of a line whose vendor has another bank account; undefined where it has not. */
export function bankChangeOf({ flags }: Pick<PlanLine, "flags">): string | undefined {
  return flags.find(({ kind }) => kind === "changed-bank-account")?.text;
}

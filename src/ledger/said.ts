import type { WaitCode } from "../contracts/reason-codes.ts";
import type { Payment } from "../payments-api/index.ts";
import type { LineKey } from "./facts.ts";

/**
 * Codes after which only this line waits: for the vendor's bank account, or the bill's own
 * approval.
 */
export const LINE_WAITS = ["approval_required", "contact_not_payable"] as const;

/**
 * Codes of refusals that the service stores and replays under their key (API specification, section
 * 7).
 */
export const STORED = ["validation_error", "not_found", "payment_not_cancellable"] as const;

/**
 * What came of a money write: by the service's response, by the gate, or by what the service shows.
 * It is the same for all operations; each turns it into the next state of its own subject.
 */
export type Said =
  /** The service has done it. */
  | {
      readonly kind: "applied";
      readonly ids: readonly string[];
      /** As the response shows them; none if it shows none, or if a lookup found them. */
      readonly payments: readonly Payment[];
      /** True if a lookup found it. */
      readonly found: boolean;
      /** False if the ledger knew of it before. */
      readonly isNew: boolean;
      /** The line for which it was sent, if the ledger says so. */
      readonly line: LineKey | null;
    }
  /** It may still take effect: only a lookup or the same key may follow. */
  | { readonly kind: "unknown"; readonly reason: string; readonly waitMs: number | null }
  /** The service refuses it for good: its key is dead. */
  | {
      readonly kind: "refused";
      readonly code: (typeof STORED)[number];
      readonly field: string | null;
      readonly message: string;
    }
  /** Nothing was done, and that may change by itself. */
  | Later
  /** The gate let nothing through, and nothing else is known. */
  | { readonly kind: "closed" }
  | { readonly kind: "person"; readonly code: "refused" | "unaccounted"; readonly reason: string }
  /** Nothing is wanted, and nothing can take effect any more. */
  | { readonly kind: "idle" };

/** Why something is done later, and what else has to wait for the same. */
export type Later = {
  readonly kind: "later";
  readonly reason: string;
  /** Null if it is not said for how long. */
  readonly waitMs: number | null;
} & (
  | { readonly of: "request"; readonly code: "payment_in_progress" | null }
  | { readonly of: "line"; readonly code: (typeof LINE_WAITS)[number] }
  | { readonly of: "source" | "business"; readonly code: WaitCode }
);

/** Returns what an answer says while an earlier request may still take effect: no more than that. */
export function whileOpen(said: Said): Said {
  const isOfAll = said.kind === "later" && (said.of === "source" || said.of === "business");
  if (isOfAll || (said.kind !== "later" && said.kind !== "refused")) return said;
  const why = said.kind === "later" ? said.reason : `The service refuses it (${said.code}).`;
  return { kind: "unknown", reason: `${why} An earlier request had no answer.`, waitMs: null };
}

/** How long a first request may be in flight at the service (API specification, section 8). */
const IN_FLIGHT_WINDOW_MS = 5 * 60_000;
/** Added where the service's time was not heard and our own clock stands in for it. */
const OWN_CLOCK_MARGIN_MS = 60_000;

export interface LookUpWindow {
  /** Service-clock instant at which we gave up on the last send by anybody. */
  readonly gaveUpAtMs: number;
  readonly httpTimeoutMs: number;
  /** True where that instant comes from our own clock, not from the service's `Date`. */
  readonly ownClock: boolean;
}

/** The first instant of the service's time at which a look-up proves that nothing was applied. */
export function conclusiveLookUpFromMs(window: LookUpWindow): number {
  const margin = window.ownClock ? OWN_CLOCK_MARGIN_MS : 0;
  return window.gaveUpAtMs + IN_FLIGHT_WINDOW_MS + window.httpTimeoutMs + margin;
}

export interface AdvanceInput {
  /**
   * How the last key ended: `applied` is a recorded 2xx or an adoption, `replayed-rejection` and
   * `unconfirmed` are the two deaths of a key, `open` is everything else.
   */
  readonly lastKey: "applied" | "replayed-rejection" | "unconfirmed" | "open";
  /** What is still owed on the subject, by the formula of `owedCents`. */
  readonly owedCents: number;
  readonly amountCents: number;
  /** True while a valid, unexpired approval of exactly this line is stored. */
  readonly approved: boolean;
  /** Null where every send under the key got an answer that leaves nothing unknown. */
  readonly unknown: LookUpWindow | null;
  /** The last recorded look-up, on the service's time; null where none was made. */
  readonly lookUp: { readonly atMs: number; readonly verdict: "none" | "adopt" | "partial" } | null;
}

export type AdvanceVerdict =
  | { readonly may: true }
  | { readonly may: false; readonly why: "key-open" | "nothing-owed" | "not-approved" | "adopt" }
  /** A look-up is due at this instant of the service's time. */
  | { readonly may: false; readonly why: "look-up-due"; readonly fromMs: number }
  /** The conclusive look-up found payments that don't add up: a person must look. */
  | { readonly may: false; readonly why: "park" };

/**
 * Whether the next `seq` of a subject may be used, that is, whether a new key may pay.
 *
 * This is the only gate between an unknown answer and a second payment (design, "Paying once"):
 * after anything unknown a look-up made after the window must have found nothing.
 */
export function mayAdvanceSeq(input: AdvanceInput): AdvanceVerdict {
  if (input.lastKey === "open") return { may: false, why: "key-open" };
  if (input.unknown !== null && input.lastKey !== "applied") {
    const fromMs = conclusiveLookUpFromMs(input.unknown);
    const lookUp = input.lookUp;
    if (lookUp?.verdict === "adopt") return { may: false, why: "adopt" };
    if (lookUp === null || lookUp.atMs < fromMs) return { may: false, why: "look-up-due", fromMs };
    if (lookUp.verdict === "partial") return { may: false, why: "park" };
  } else if (input.lastKey === "unconfirmed") {
    throw new RangeError("an unconfirmed key is unknown: its window must be given");
  }
  if (input.owedCents < input.amountCents || input.owedCents <= 0) {
    return { may: false, why: "nothing-owed" };
  }
  if (!input.approved) return { may: false, why: "not-approved" };
  return { may: true };
}

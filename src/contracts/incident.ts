import type { LineState } from "./line-states.ts";
import type { LineReason } from "./reason-codes.ts";

export const INCIDENT_PHASES = ["open", "topping-up", "ended"] as const;
export type IncidentPhase = (typeof INCIDENT_PHASES)[number];

/** A person's decision about a funding account whose payments bounced. */
export type IncidentDecision = "released" | "other-source" | "top-up";

export interface IncidentBill {
  readonly payableId: string;
  readonly contactId: string | null;
  readonly amountCents: number;
  readonly state: LineState;
  readonly paymentIds: readonly string[];
  readonly attempts: number;
  readonly reasonCode: LineReason | null;
  readonly reason: string | null;
}

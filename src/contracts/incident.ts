import type { LineState } from "./pay-run.ts";

export const INCIDENT_PHASES = ["open", "topping-up", "ended"] as const;
export type IncidentPhase = (typeof INCIDENT_PHASES)[number];

/** What a person has decided about a funding account that bounced. */
export type IncidentDecision = "released" | "other-source" | "top-up";

export interface IncidentBill {
  readonly payableId: string;
  readonly amountCents: number;
  readonly state: LineState;
  readonly paymentIds: readonly string[];
  readonly attempts: number;
  readonly reason: string | null;
}

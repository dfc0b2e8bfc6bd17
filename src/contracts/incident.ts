import type { LineState } from "./pay-run.ts";
import type { TopUpStatus } from "./deposit.ts";

export const INCIDENT_PHASES = ["open", "topping-up", "ended"] as const;
export type IncidentPhase = (typeof INCIDENT_PHASES)[number];

/** What somebody who may has decided about a funding account that bounced. */
export type IncidentDecision = "released" | "other-source" | "top-up";

/** What `status --json` shows of a `funding-incident/…` workflow. */
export interface IncidentStatus {
  readonly id: string;
  readonly kind: "funding-incident";
  readonly business: string;
  /** The funding account that payments bounced from. */
  readonly source: string;
  readonly phase: IncidentPhase;
  readonly waitingFor: string | null;
  readonly needsAction: boolean;
  readonly counts: Readonly<Partial<Record<LineState, number>>>;
  readonly totalCents: number;
  readonly planHash: null;
  readonly code: string;
  readonly reason: string;
  /** Any of these decides. */
  readonly roles: readonly string[];
  readonly holdId: string;
  readonly launchedAt: string;
  readonly endedAt: string | null;
  readonly decision: string | null;
  readonly decidedBy: string | null;
  /** Deposits that it has asked for, first to last. */
  readonly topUps: readonly TopUpStatus[];
  /** Bills that wait for the decision. */
  readonly payments: readonly IncidentBill[];
}

export interface IncidentBill {
  readonly payableId: string;
  readonly amountCents: number;
  readonly state: LineState;
  readonly paymentIds: readonly string[];
  readonly attempts: number;
  readonly reason: string | null;
}

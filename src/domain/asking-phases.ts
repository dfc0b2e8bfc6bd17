/**
 * The phase in which a workflow of these kinds waits for a person, in each: status, list and
 * Temporal's search attribute go by it. What the other kinds wait for, their stores say.
 */
export const ASKING_PHASE = {
  fundingIncident: "open",
  retryFailedPayment: "parked",
} as const;

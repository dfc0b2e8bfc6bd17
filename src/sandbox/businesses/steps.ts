import { invalid, stateRefusal } from "../http/api-error.ts";
import type { BusinessRow } from "../resources/businesses.ts";
import type { StepProgress, VerificationRow } from "./tables.ts";

/** The steps of verification, in their order (API specification, section 3). */
export const stepNames = ["tax", "signature", "officers", "certification", "documents"] as const;
export type StepName = (typeof stepNames)[number];

export const tinStatuses = ["not_started", "pending", "matched", "mismatched"] as const;

export interface StepAdvice {
  step: StepName | "support";
  message: string;
}

/** Returns what the IRS says about the tax id at an instant of the bank clock. */
export function tinStatusAt(
  { tin_result: result, tin_answered_at: answeredAt }: VerificationRow,
  nowMs: number,
): (typeof tinStatuses)[number] {
  if (result === null || answeredAt === null) return "not_started";
  return nowMs < answeredAt ? "pending" : result;
}

/**
 * Returns the state of each step. A tax id that the IRS could not match is missing again, because
 * it has to be sent once more; one that it matched is accepted before the review is.
 */
export function stepsAt(row: VerificationRow, nowMs: number): Record<StepName, StepProgress> {
  return {
    tax: taxStep(row, nowMs),
    signature: row.signature_step,
    officers: row.officers_step,
    certification: row.certification_step,
    documents: row.documents_step,
  };
}

function taxStep(row: VerificationRow, nowMs: number): StepProgress {
  if (row.tax_step !== "submitted") return row.tax_step;
  const status = tinStatusAt(row, nowMs);
  if (status === "mismatched") return "missing";
  return status === "matched" ? "accepted" : "submitted";
}

/**
 * Refuses a step that comes too late or too early.
 *
 * @throws {ApiError} 422 `validation_error` once the business is verified; `setup_incomplete` while
 * a step before this one is missing.
 */
export function requireTurn(
  business: BusinessRow,
  row: VerificationRow,
  step: Exclude<StepName, "documents">,
  nowMs: number,
): void {
  if (business.verification === "verified") {
    throw invalid("businessId", "The business is verified; nothing is left to submit");
  }
  const states = stepsAt(row, nowMs);
  const missing = stepNames
    .slice(0, stepNames.indexOf(step))
    .filter((name) => states[name] === "missing");
  if (missing.length === 0) return;
  throw stateRefusal(
    "setup_incomplete",
    `The step ${step} comes after ${missing.join(", ")}, which ${missing.length === 1 ? "is" : "are"} missing`,
    { step, missing },
  );
}

/**
 * Returns what the business's people have to do now, in order; empty while the review is under way.
 */
export function nextStepsAt(
  business: BusinessRow,
  row: VerificationRow,
  nowMs: number,
): StepAdvice[] {
  const { verification } = business;
  if (verification === "verified") return [];
  const states = stepsAt(row, nowMs);
  const own = JSON.parse(row.requests) as string[];
  const steps: StepAdvice[] = [];
  if (verification === "suspended") {
    const messages = own.length > 0 ? own : [row.reason ?? "The review failed; contact support"];
    for (const message of messages) steps.push({ step: "support", message });
  }
  for (const step of ["tax", "signature", "officers", "certification"] as const) {
    if (states[step] === "missing") steps.push({ step, message: messageOf(step, row, nowMs) });
  }
  if (verification === "document") {
    const messages = own.length > 0 ? own : [row.reason ?? "Upload the documents the review needs"];
    for (const message of messages) steps.push({ step: "documents", message });
  }
  return steps;
}

function messageOf(
  step: Exclude<StepName, "documents">,
  row: VerificationRow,
  nowMs: number,
): string {
  switch (step) {
    case "tax":
      return tinStatusAt(row, nowMs) === "mismatched"
        ? "The IRS could not match the tax id with the business; check it and submit it again"
        : "Submit the business's EIN, or its owner's SSN for a sole proprietorship";
    case "signature":
      return "Sign the W-9 electronically";
    case "officers":
      return "Add the officers and all owners of 25 percent or more";
    case "certification":
      return "Certify that all beneficial owners are listed";
  }
}

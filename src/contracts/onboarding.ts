import type { Look } from "./look.ts";

/** The progress of a business's verification. A step's name means that its data is awaited. */
export const ONBOARDING_PHASES = [
  "tax",
  "signature",
  "officers",
  "certification",
  "documents",
  "review",
  "verified",
  "suspended",
  "expired",
] as const;
export type OnboardingPhase = (typeof ONBOARDING_PHASES)[number];

/**
 * The steps of verification that need data from people, in order (API specification, section 3).
 */
export const KYB_STEPS = ["tax", "signature", "officers", "certification", "documents"] as const;
export type KybStep = (typeof KYB_STEPS)[number];

/** What people can provide: the steps, and after them a bank account. */
export const PROVIDED_STEPS = [...KYB_STEPS, "bank-account", "micro-deposits"] as const;
export type ProvidedStep = (typeof PROVIDED_STEPS)[number];

/** The state of one provided input. */
export const INPUT_STATES = ["waiting", "done", "refused", "replaced"] as const;
export type InputState = (typeof INPUT_STATES)[number];

/** Why a provided input can't be sent although its data is fine. */
export interface HeldUp {
  readonly reason: string;
  /** True if a person must fix it; otherwise it may pass by itself. */
  readonly needsPerson: boolean;
}

/** A step that the service requests. */
export interface NextStep {
  readonly step: string | null;
  readonly message: string;
}

/** Input of the `kybOnboarding` workflow; everything else is in the store. */
export interface KybOnboardingInput {
  readonly business: string;
}

/** Where an onboarding stands, and what its workflow does next. */
export interface OnboardingAssessment extends Look {
  readonly phase: OnboardingPhase;
  readonly ended: boolean;
  readonly needsAction: boolean;
  /** The provided input to send now. */
  readonly send: { readonly inputId: string; readonly step: ProvidedStep } | null;
}

import type {
  HeldUp,
  KybStep,
  NextStep,
  OnboardingPhase,
  ProvidedStep,
} from "../../contracts/onboarding.ts";
import { serviceSays } from "../service-words.ts";
import { actAbout } from "./texts.ts";
import { SERVICE_MUST_ACT } from "./waits.ts";

export type StepState = "missing" | "submitted" | "accepted";

/** How far the business's verification is, according to the service. */
export interface VerificationView {
  /** `pending`, `verified`, `suspended`, `document`; any other value counts as under review. */
  readonly status: string;
  readonly steps: Readonly<Record<KybStep, StepState>>;
  /** True if the IRS could not match the tax id that was sent last. */
  readonly taxIdMismatched: boolean;
  /** The reviewer's reason, in words. */
  readonly reason: string | null;
  readonly nextSteps: readonly NextStep[];
}

/** The facts of a provided input that decisions need. */
export interface ProvidedView {
  readonly inputId: string;
  readonly step: ProvidedStep;
  readonly state: string;
  readonly facts?: { readonly heldUp?: HeldUp };
}

/** What an onboarding does next. */
export type OnboardingMove =
  | { readonly do: "send"; readonly phase: OnboardingPhase; readonly input: ProvidedView }
  | {
      readonly do: "wait";
      readonly phase: OnboardingPhase;
      /** True if a person must act; otherwise the service must. */
      readonly needsPerson: boolean;
      readonly text: string;
      /** Names the wait. A new name is a new wait, with its own reminders and expiry. */
      readonly key: string;
    }
  | { readonly do: "verified" };

/** The steps of every business, in order; documents follow only if the reviewer requests them. */
const IN_ORDER = ["tax", "signature", "officers", "certification"] as const;
type OrderedStep = (typeof IN_ORDER)[number];

/**
 * Decides what is next: wait for the first missing step, or send what was provided for it. A step
 * is never sent before the steps that come first (API specification, section 3).
 */
export function decideOnboarding(
  business: string,
  view: VerificationView,
  provided: readonly ProvidedView[],
): OnboardingMove {
  if (view.status === "verified") return { do: "verified" };
  const next = (step: ProvidedStep) =>
    provided.find((input) => input.step === step && input.state === "waiting");
  const missing: OrderedStep[] = [];
  for (const step of IN_ORDER) {
    const input = next(step);
    if (input !== undefined) {
      const phase = view.status === "suspended" ? "suspended" : step;
      return { do: "send", phase, input };
    }
    if (view.steps[step] === "missing") missing.push(step);
    if (missing.length > 0) break;
  }
  if (view.status === "suspended") return suspended(view);
  const [first] = missing;
  if (first !== undefined) return waitFor(business, first, view, provided);
  if (view.status === "document") {
    const input = next("documents");
    if (input !== undefined) return { do: "send", phase: "documents", input };
    return waitForDocuments(business, view, provided);
  }
  return underReview(view);
}

/**
 * Waits for the review. No person has to act, but the service's message is shown anyway, because
 * only a person can judge it.
 */
function underReview({ nextSteps }: VerificationView): OnboardingMove {
  const said = nextSteps.map(({ message }) => message).join(" ");
  const todo = said === "" ? " No action is needed now." : serviceSays(said);
  const text = `The Payments Service reviews the business.${todo}`;
  return {
    do: "wait",
    phase: "review",
    needsPerson: false,
    text,
    key: `${SERVICE_MUST_ACT}review`,
  };
}

const ASKS: Readonly<Record<OrderedStep, string>> = {
  tax: "The business's tax id: its EIN, or the owner's SSN for a sole proprietorship.",
  signature: "A person who may sign the W-9 for the business.",
  officers: "The officers, and all owners of 25 percent or more.",
  certification: "A person who certifies that all beneficial owners are listed.",
};

function waitFor(
  business: string,
  step: OrderedStep,
  view: VerificationView,
  provided: readonly ProvidedView[],
): OnboardingMove {
  const again = step === "tax" && view.taxIdMismatched;
  const what = again
    ? "The IRS could not match the tax id with the business. The right one is needed."
    : `${refusedBefore(step, provided)}${ASKS[step]}`;
  // A refused input is asked for again as a new wait, so that people are notified again.
  const answered = provided.filter((input) => input.step === step && input.state !== "replaced");
  return {
    do: "wait",
    phase: step,
    needsPerson: true,
    text: `${what} ${provideCommand(business, step)}`,
    key: `${step}${again ? ":mismatched" : ""}:${answered.length}`,
  };
}

/**
 * Returns a warning if the data that an act vouches for was refused: people who sign or certify
 * must know that.
 */
function refusedBefore(act: OrderedStep, provided: readonly ProvidedView[]): string {
  const last = provided.findLast(({ step }) => actAbout(step) === act);
  if (last?.state !== "refused") return "";
  return last.step === "tax"
    ? "A tax id was refused: see why, and provide the right one first or sign for the one on file. "
    : "An officer was refused: see why, and provide them again first or certify without them. ";
}

function waitForDocuments(
  business: string,
  view: VerificationView,
  provided: readonly ProvidedView[],
): OnboardingMove {
  const asked = view.nextSteps
    .filter(({ step }) => step === null || step === "documents")
    .map(({ message }) => message);
  const said = asked.length > 0 ? asked.join(" ") : view.reason;
  const text = `The review needs documents.${serviceSays(said)}`;
  const given = provided.filter(({ step }) => step === "documents").length;
  return {
    do: "wait",
    phase: "documents",
    needsPerson: true,
    text: `${text} ${provideCommand(business, "documents")}`,
    key: `documents:${given}`,
  };
}

function suspended(view: VerificationView): OnboardingMove {
  const todo = view.nextSteps.map(({ message }) => message);
  const said = todo.length > 0 ? todo.join(" ") : view.reason;
  const why = said === null ? " Ask the service's support why." : serviceSays(said);
  return {
    do: "wait",
    phase: "suspended",
    needsPerson: true,
    text: `The business is suspended.${why}`,
    key: "suspended",
  };
}

/** Returns the command that provides a step's data. */
export function provideCommand(business: string, step: ProvidedStep): string {
  return `payrun provide ${business} ${step} --file FILE`;
}

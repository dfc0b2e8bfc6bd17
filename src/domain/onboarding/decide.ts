import type {
  KybStep,
  NextStep,
  OnboardingPhase,
  ProvidedStep,
} from "../../contracts/onboarding.ts";
import { serviceSays } from "../service-words.ts";
import { actAbout } from "./texts.ts";
import { SERVICES_TURN } from "./waits.ts";

export type StepState = "missing" | "submitted" | "accepted";

/** How far the service says that a business is. */
export interface VerificationView {
  /** `pending`, `verified`, `suspended`, `document`; others count as under review. */
  readonly status: string;
  readonly steps: Readonly<Record<KybStep, StepState>>;
  /** True where the IRS could not match the tax id that was sent last. */
  readonly taxIdMismatched: boolean;
  /** The reviewer's reason, in words. */
  readonly reason: string | null;
  readonly nextSteps: readonly NextStep[];
}

/** What keeps something provided from being sent, although the data is not to blame. */
export interface HeldUp {
  readonly reason: string;
  /** A person has to see to it; else it may pass by itself. */
  readonly needsPerson: boolean;
}

/** What people have provided, as far as deciding needs it. */
export interface ProvidedView {
  readonly inputId: string;
  readonly step: ProvidedStep;
  readonly state: string;
  readonly facts?: { readonly heldUp?: HeldUp };
}

/** What an onboarding does next. */
export type Decision =
  | { readonly do: "send"; readonly phase: OnboardingPhase; readonly input: ProvidedView }
  | {
      readonly do: "wait";
      readonly phase: OnboardingPhase;
      /** A person has to act; else it is the service's turn. */
      readonly needsPerson: boolean;
      readonly text: string;
      /** Names the wait: another name is another wait, with its own reminders and expiry. */
      readonly key: string;
    }
  | { readonly do: "verified" };

/** The steps that every business takes, in their order; documents follow only when asked for. */
const IN_ORDER = ["tax", "signature", "officers", "certification"] as const;
type OrderedStep = (typeof IN_ORDER)[number];

/**
 * What is next: the first step that is missing is waited for, and what was provided is sent when
 * its turn has come, never before the steps that come first (API specification, section 3).
 */
export function decideOnboarding(
  business: string,
  view: VerificationView,
  provided: readonly ProvidedView[],
): Decision {
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

/** Nobody is asked for anything, but what the service says is shown: only a person understands it. */
function underReview({ nextSteps }: VerificationView): Decision {
  const said = nextSteps.map(({ message }) => message).join(" ");
  const todo = said === "" ? " Nothing is to be done now." : serviceSays(said);
  const text = `The Payments Service reviews the business.${todo}`;
  return { do: "wait", phase: "review", needsPerson: false, text, key: `${SERVICES_TURN}review` };
}

const ASKS: Readonly<Record<OrderedStep, string>> = {
  tax: "The business's tax id: its EIN, or the owner's SSN for a sole proprietorship.",
  signature: "Somebody who may sign the W-9 for the business.",
  officers: "The officers, and all owners of 25 percent or more.",
  certification: "Somebody who certifies that all beneficial owners are listed.",
};

function waitFor(
  business: string,
  step: OrderedStep,
  view: VerificationView,
  provided: readonly ProvidedView[],
): Decision {
  const again = step === "tax" && view.taxIdMismatched;
  const what = again
    ? "The IRS could not match the tax id with the business. The right one is needed."
    : `${refusedBefore(step, provided)}${ASKS[step]}`;
  // One that was refused makes the same question another one: somebody has to hear of it.
  const answered = provided.filter((input) => input.step === step && input.state !== "replaced");
  return {
    do: "wait",
    phase: step,
    needsPerson: true,
    text: `${what} ${howTo(business, step)}`,
    key: `${step}${again ? ":mismatched" : ""}:${answered.length}`,
  };
}

/** Who signs or certifies must know that what they were about to vouch for was not taken. */
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
): Decision {
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
    text: `${text} ${howTo(business, "documents")}`,
    key: `documents:${given}`,
  };
}

function suspended(view: VerificationView): Decision {
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

/** The command that provides a step's data. */
export function howTo(business: string, step: ProvidedStep): string {
  return `payrun provide ${business} ${step} --file FILE`;
}

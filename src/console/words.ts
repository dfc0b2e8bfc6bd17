import { type AuthorKind, PAYRUN } from "../contracts/authors.ts";
import { GIVEN_BACK, shownBillState } from "../domain/runs/given-back.ts";
import { html } from "./html.ts";
import type { CancellationPhase, CancellationState } from "../contracts/cancellation.ts";
import type { IncidentPhase } from "../contracts/incident.ts";
import type { OnboardingPhase } from "../contracts/onboarding.ts";
import { LINE_TABLE, type LineState, type Tone } from "../contracts/line-states.ts";
import type { RunPhase } from "../contracts/pay-run.ts";
import { isDate } from "../domain/clock/dates.ts";
import { spokenDate, spokenTime } from "../domain/clock/spoken.ts";
import { PLAN_ONLY } from "../domain/plan-only.ts";
import { formatUsd } from "../domain/money.ts";
import { centsInState, type LineInParts } from "../domain/payments/line-parts.ts";
import { runPage } from "../contracts/console-pages.ts";
import { businessOfWorkflow, shortName } from "../contracts/workflow-kinds.ts";

/** Text that is safe to insert into a page; templates of `html` produce it. */
export type Markup = ReturnType<typeof html>;

interface StateWord {
  readonly word: string;
  readonly tone: Tone;
}

/** The states of bills in the words of people who pay them, in the order in which they occur. */
export const LINE_WORDS: Readonly<Record<LineState | typeof GIVEN_BACK, StateWord>> = {
  ...LINE_TABLE,
  [GIVEN_BACK]: { word: "Given back", tone: "plain" },
};

const RUN_WORDS: Readonly<Record<RunPhase, StateWord>> = {
  planning: { word: "Being planned", tone: "move" },
  "awaiting-approval": { word: "Waits for approval", tone: "wait" },
  funding: { word: "Finding the money", tone: "move" },
  paying: { word: "Paying", tone: "move" },
  settling: { word: "Settling", tone: "move" },
  completed: { word: "Complete", tone: "good" },
  "completed-with-exceptions": { word: "Ended with exceptions", tone: "bad" },
  rejected: { word: "Rejected", tone: "plain" },
  expired: { word: "Expired", tone: "bad" },
  cancelled: { word: "Cancelled", tone: "plain" },
  failed: { word: "Could not be planned", tone: "bad" },
};

/** Phases of the other workflows: cancellations, accounts that bounced, onboardings. */
const OTHER_WORDS: Readonly<
  Record<Exclude<CancellationPhase, RunPhase> | IncidentPhase | OnboardingPhase, StateWord>
> = {
  choosing: { word: "Putting bills on hold", tone: "move" },
  withholding: { word: "Bills held back", tone: "wait" },
  cancelling: { word: "Being called back", tone: "move" },
  following: { word: "Waits for refunds", tone: "wait" },
  open: { word: "Waits for a decision", tone: "wait" },
  "topping-up": { word: "Waits for the deposit", tone: "wait" },
  ended: { word: "Decided", tone: "plain" },
  tax: { word: "Needs tax details", tone: "wait" },
  signature: { word: "Needs a signature", tone: "wait" },
  officers: { word: "Needs its officers", tone: "wait" },
  certification: { word: "Needs a certification", tone: "wait" },
  documents: { word: "Needs documents", tone: "wait" },
  review: { word: "Reviewed by the service", tone: "move" },
  verified: { word: "Verified", tone: "good" },
  suspended: { word: "Suspended", tone: "bad" },
  expired: { word: "Expired", tone: "bad" },
};

const PHASE_WORDS: Readonly<Record<string, StateWord>> = { ...OTHER_WORDS, ...RUN_WORDS };

/** States of a payment that was to be cancelled, or of a bill that is held back. */
const CANCELLATION_WORDS: Readonly<Record<CancellationState, StateWord>> = {
  withheld: { word: "Held back", tone: "wait" },
  released: { word: "Released", tone: "good" },
  cancelled: { word: "Cancelled", tone: "plain" },
  refund_pending: { word: "Refund on its way", tone: "wait" },
  refunded: { word: "Refunded", tone: "plain" },
  "too-late": { word: "Too late to call back", tone: "bad" },
  "several-scheduled": { word: "In several payments", tone: "bad" },
  unknown: { word: "Answer not known yet", tone: "move" },
};

export function cancellationStateOf(state: string): StateWord {
  return Object.entries(CANCELLATION_WORDS).find(([name]) => name === state)?.[1] ?? stateOf(state);
}

const ONLY_PLANNED: StateWord = { word: "Only planned", tone: "plain" };

/** Returns the state of a run's bill, in words. */
export function billStateOf(
  bill: Parameters<typeof shownBillState>[0] & { readonly reasonCode: string | null },
): StateWord {
  return stateOf(shownBillState(bill), bill.reasonCode);
}

export function stateOf(state: string, reasonCode: string | null = null): StateWord {
  if (reasonCode === PLAN_ONLY) return ONLY_PLANNED;
  const known = Object.entries(LINE_WORDS).find(([name]) => name === state)?.[1];
  return known ?? { word: capital(state.replaceAll(/[-_]/g, " ")), tone: "plain" };
}

const PAYMENT_WORDS: Readonly<Record<string, StateWord>> = {
  completed: { word: "Completed", tone: "good" },
  failed: { word: "Failed", tone: "bad" },
};

/** Returns a payment's state, by the service's word for it. */
export function paymentStateOf(status: string): StateWord {
  return PAYMENT_WORDS[status] ?? stateOf(status);
}

export function phaseShown(phase: string, planOnly?: true): StateWord {
  if (planOnly === true && phase === "completed") return ONLY_PLANNED;
  return PHASE_WORDS[phase] ?? stateOf(phase);
}

/** Builds a word with its color and its dot. */
export function badge({ word, tone }: StateWord): Markup {
  return html`<span class="badge ${tone}">${word}</span>`;
}

export function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Formats an amount so that digits line up in columns. */
export function usd(cents: number): Markup {
  return html`<span class="usd">${formatUsd(cents)}</span>`;
}

/** Formats a bill's amount; if the bill is paid in parts, the part that is in its state. */
export function amountInState(line: LineInParts): Markup {
  const cents = centsInState(line);
  if (cents === line.amountCents) return usd(cents);
  return html`${usd(cents)}<span class="under">of ${formatUsd(line.amountCents)}</span>`;
}

export function wholeNumber(count: number): string {
  return count.toLocaleString("en-US");
}

/** `Mon, Nov 23, 9:00 AM New York`, in the time zone in which a business's people read times. */
export function when(instant: string, zone: string): Markup {
  return html`<time datetime="${instant}">${spokenTime(instant, zone)}</time>`;
}

/** `Mon, Nov 23` for a plain date; a dash for null. */
export function dayText(date: string | null): Markup | string {
  if (date === null) return "–";
  if (!isDate(date)) return date;
  return html`<time datetime="${date}">${spokenDate(date)}</time>`;
}

/** Returns a link to a run, by its short name. */
export function runLink(runId: string): Markup {
  return html`<a href="${runPage(runId)}">${unbroken(shortName(runId))}</a>`;
}

/** The most letters of a part that still fit into a column. */
const SHORT = "every-monday-morning".length;

/**
 * Returns a name of parts, such as a playbook and a date, that is broken across lines only between
 * its parts: browsers break after any hyphen.
 */
export function unbroken(name: string): Markup {
  const parts = name.split(/(?<=[/ ])/);
  return html`${parts.map((part) =>
    part.length <= SHORT ? html`<span class="unbroken">${part}</span><wbr />` : part,
  )}`;
}

/** Names who did something: a person, or Payrun with a link to the workflow. */
export function who(author: string, kind: AuthorKind): Markup | string {
  if (kind === "principal") return author;
  if (author === PAYRUN.name) return "Payrun";
  if (businessOfWorkflow(author) === undefined) return author;
  return html`<a href="${runPage(author)}">Payrun</a>`;
}

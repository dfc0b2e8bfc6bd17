import { inMarkdown } from "./others-text.ts";
import { type Look, SUMMARY_MAX } from "../contracts/look.ts";
import { withoutServiceWords } from "./service-words.ts";

/** Returns the summary of a workflow's timer: progress so far, and what it waits for. */
export function timerText({ soFar, waitingFor }: Pick<Look, "soFar" | "waitingFor">): string {
  const said = [soFar ?? "", waitingFor ?? ""].filter((text) => text !== "");
  const text = said.length === 0 ? "Nothing to do until then" : said.join("; ");
  // Markdown, like every summary; cut before it is marked, so that no mark is cut in two.
  return inMarkdown(publicText(text).slice(0, SUMMARY_MAX)).slice(0, SUMMARY_MAX);
}

/** Removes bank account digits and the service's own words: Temporal shows them to everyone. */
export function publicText(text: string): string {
  return withoutServiceWords(text).replaceAll(/••\w+/g, "••");
}

/** Ends a text with a period, unless it has one: reasons are whole sentences. */
export function withFullStop(text: string): string {
  return text.endsWith(".") ? text : `${text}.`;
}

/** Returns a look without private text, for the history. */
export function forHistory<Now extends Look>(now: Now): Now {
  const { waitingFor, soFar, details, outcome } = now;
  return {
    ...now,
    waitingFor: waitingFor === null ? null : publicText(waitingFor),
    ...(soFar === undefined ? {} : { soFar: publicText(soFar) }),
    details: publicText(details),
    ...(typeof outcome === "string" ? { outcome: publicText(outcome) } : {}),
  };
}

/** Returns a bill's name for people: its number and its vendor. */
export function nameOfBill(bill: {
  readonly payableId: string;
  readonly publicId?: string | null;
  readonly contactName?: string | null;
}): string {
  const number = bill.publicId ?? bill.payableId;
  const vendor = bill.contactName ?? null;
  return vendor === null ? number : `${number} of ${vendor}`;
}

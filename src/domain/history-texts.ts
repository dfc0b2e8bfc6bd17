import type { Look } from "../contracts/look.ts";
import { withoutServiceWords } from "./service-words.ts";

/** A summary that is longer is cut: Temporal would refuse it. */
const SUMMARY_MAX = 190;

/** What a workflow's timer says: what has come of it so far, and what it waits for. */
export function timerText({ soFar, waitingFor }: Pick<Look, "soFar" | "waitingFor">): string {
  const said = [soFar ?? "", waitingFor ?? ""].filter((text) => text !== "");
  const text = said.length === 0 ? "Nothing to do until then" : said.join("; ");
  return publicText(text).slice(0, SUMMARY_MAX);
}

/** Takes out the digits of bank accounts and the service's own words: Temporal shows them to all. */
export function publicText(text: string): string {
  return withoutServiceWords(text).replaceAll(/••\w+/g, "••");
}

/** A look as a history keeps it. */
export function forHistory<Now extends Look>(now: Now): Now {
  const { waitingFor, soFar, details } = now;
  return {
    ...now,
    waitingFor: waitingFor === null ? null : publicText(waitingFor),
    ...(soFar === undefined ? {} : { soFar: publicText(soFar) }),
    details: publicText(details),
  };
}

/** A bill as people know it: by its number and its vendor. */
export function nameOfBill(bill: {
  readonly payableId: string;
  readonly publicId?: string | null;
  readonly contactName?: string | null;
}): string {
  const number = bill.publicId ?? bill.payableId;
  const vendor = bill.contactName ?? null;
  return vendor === null ? number : `${number} of ${vendor}`;
}

import type { ShownSubject } from "../../src/domain/events/shown-change.ts";
import type { Cancellation } from "../../src/store/cancellations/cancellations.ts";
import type { ActivityContext } from "../shared/context.ts";
import { unlessMissing } from "../shared/unless-missing.ts";

/**
 * Reads what the events that started a cancellation are about: an event proves nothing, and only
 * what the service shows differently from what is known is acted upon.
 *
 * @returns undefined if no events started it
 */
export async function readSubject(
  context: ActivityContext,
  { business, policy }: Cancellation,
): Promise<ShownSubject | undefined> {
  const { vendor, payable = null } = policy.choose;
  if (policy.events === undefined) return undefined;
  const client = context.clientOf(business);
  if (payable !== null) {
    const bill = await unlessMissing(() => client.payables.getPartly(payable));
    return { kind: "bill", bill };
  }
  if (vendor === null) return undefined;
  return { kind: "vendor", vendor: await unlessMissing(() => client.contacts.get(vendor)) };
}

/** Says why a cancellation is made, once it is known what the service shows. */
export function reasonOf({ reason, policy }: Cancellation, change: string | undefined): string {
  if (policy.events === undefined) return reason;
  return `${reason}: ${change ?? "the service shows no change"}`;
}

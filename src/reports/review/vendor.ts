import type { BusinessProfile } from "../../config/business-profile.ts";
import type { Vendor } from "../../api/vendor.ts";
import type { ActionContext } from "../../actions/context.ts";
import { notFound } from "../../actions/errors.ts";
import { activeHolds } from "../../store/holds/holds.ts";
import { linesOfVendor, type VendorLine } from "../../store/lines/vendor-lines.ts";
import { lastPaymentsTo } from "./last-payments.ts";
import { markStandingOfRuns } from "../status/given-back.ts";
import { holdsJson } from "../status/holds.ts";
import { businessNowMs } from "../moment.ts";

/** Most bills and payments that are shown; older ones are at the service. */
const BILLS_SHOWN = 200;
const PAYMENTS_SHOWN = 20;

/** A person at a screen waits no longer than this for the service. */
const PATIENCE_MS = 5_000;

/**
 * Returns a vendor for approvers and operators.
 *
 * @throws GatewayError 404 if neither a run nor the service knows it
 */
export async function vendorOf(
  context: Pick<ActionContext, "store" | "profiles" | "clocks" | "clientOf">,
  profile: BusinessProfile,
  contactId: string,
): Promise<Vendor> {
  const { db } = context.store;
  const { businessId, name: business } = profile;
  const client = context.clientOf(profile);
  const [lines, contact, payments] = await Promise.all([
    linesOfVendor(db, { businessId, contactId }, BILLS_SHOWN),
    client.contacts
      .get(contactId, { signal: AbortSignal.timeout(PATIENCE_MS) })
      .catch(() => undefined),
    lastPaymentsTo(client, [contactId], PAYMENTS_SHOWN),
  ]);
  if (contact === undefined && lines.length === 0) {
    throw notFound(
      `No run has a bill of a vendor “${contactId}”, and the service doesn't say that there is one.`,
    );
  }
  const holds = await activeHolds(db, businessId, await businessNowMs(context, business));
  const accounts = accountsIn(lines);
  const standing = await markStandingOfRuns(
    db,
    businessId,
    lines.map(({ plan, line }) => ({ ...line, plan })),
  );
  return {
    contactId,
    business,
    name: contact?.displayName ?? lines[0]?.plan.contactName ?? null,
    status: contact?.status ?? null,
    paymentReady: contact?.paymentReady ?? null,
    bankLast4:
      contact === undefined ? (accounts[0]?.last4 ?? null) : (contact.bankAccount?.last4 ?? null),
    changedAt: contact?.updatedAt ?? null,
    accounts,
    bills: standing.map(({ plan, ...line }) => ({
      payableId: line.payableId,
      publicId: plan.publicId,
      runId: line.runId,
      amountCents: line.amountCents,
      parts: line.parts,
      dueDate: plan.dueDate,
      executionDate: line.executionDate,
      state: line.state,
      givenBack: line.givenBack,
      reasonCode: line.reasonCode,
      reason: line.reason,
    })),
    payments: payments.get(contactId) ?? null,
    holds: await holdsJson(
      db,
      holds.filter(({ scope, value }) => scope === "contact" && value === contactId),
      profile,
    ),
  };
}

/** Returns each account with the run that used it first, the latest account first. */
function accountsIn(lines: readonly VendorLine[]): Vendor["accounts"] {
  const oldestFirst = lines.toSorted((one, other) => one.launchedAtMs - other.launchedAtMs);
  const found: Vendor["accounts"][number][] = [];
  for (const { plan, line, launchedAtMs } of oldestFirst) {
    if (found.at(-1)?.last4 === plan.bankLast4) continue;
    const since = new Date(launchedAtMs).toISOString();
    found.push({ last4: plan.bankLast4, since, runId: line.runId });
  }
  return found.toReversed();
}

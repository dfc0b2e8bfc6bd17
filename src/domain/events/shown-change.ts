import type { PlanLine } from "../../contracts/pay-run.ts";
import { formatUsd } from "../money.ts";
import type { BillToPay } from "../payments/as-approved.ts";
import { differing, isChanged, recordOf, vendorChange, type VendorNow } from "../vendor-account.ts";

/** The bill or the vendor that events were about, as the service shows it; null if it doesn't. */
export type ShownSubject =
  | { readonly kind: "bill"; readonly bill: BillToPay | null }
  | {
      readonly kind: "vendor";
      readonly vendor: (VendorNow & Parameters<typeof recordOf>[0]) | null;
    };

/** What is known from before: what was planned, and when the service made the payment. */
export interface KnownBefore {
  readonly plan?: Pick<PlanLine, "totalCents" | "contactId" | "bankLast4" | "record">;
  /** ISO 8601; null if it can't be read. */
  readonly madeAt?: string | null;
}

/** Says how a bill or a vendor differs from what is known; null if the service shows no change. */
export function changeOfSubject(shown: ShownSubject, known: KnownBefore): string | null {
  const now = shown.kind === "bill" ? shown.bill : shown.vendor;
  if (now === null) return "the service doesn't show it any more";
  const good = shown.kind === "bill" ? "approved" : "active";
  if (now.status !== good) return `its status is ${now.status} now`;
  if (shown.kind === "bill") return shown.bill && billChange(shown.bill, known);
  return shown.vendor && recordChange(shown.vendor, known);
}

function billChange(bill: BillToPay, { plan }: KnownBefore): string | null {
  if (plan === undefined) return null;
  if (bill.contact.id !== plan.contactId) return "it belongs to another vendor now";
  const { totalCents } = plan;
  return bill.totalAmountCents === totalCents
    ? null
    : `its amount changed from ${formatUsd(totalCents)} to ${formatUsd(bill.totalAmountCents)}`;
}

function recordChange(
  vendor: NonNullable<Extract<ShownSubject, { kind: "vendor" }>["vendor"]>,
  { plan, madeAt }: KnownBefore,
): string | null {
  const account = plan === undefined ? null : vendorChange(plan, vendor);
  if (account !== null) return account;
  if (madeAt !== undefined) {
    return isAfter(vendor.updatedAt, madeAt)
      ? "its record was changed after the payment was made"
      : null;
  }
  if (plan === undefined || !isChanged(plan.record, recordOf(vendor))) return null;
  return `its record was changed: ${differing(plan.record, recordOf(vendor))}`;
}

/** True unless a record was certainly not changed since an instant. */
function isAfter(updatedAt: string | null, instant: string | null): boolean {
  if (updatedAt === null) return false;
  return !(Date.parse(updatedAt) < Date.parse(instant ?? ""));
}

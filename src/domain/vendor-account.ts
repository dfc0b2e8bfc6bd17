import { crc32 } from "node:zlib";
import type { VendorRecord } from "../contracts/pay-run.ts";
import { type Unreadable, unreadableText } from "./unreadable.ts";

/**
 * The fields of a vendor's record that the service shows. Of its account it shows the last four
 * digits, which are compared by themselves, and that something has changed: `updatedAt`.
 */
const SHOWN_FIELDS = [
  "displayName",
  "emails",
  "phone",
  "paymentDirection",
  "netTerms",
  "taxInfo",
  "status",
  "type",
] as const;

/** Keeps what is compared of a vendor's record. */
export function recordOf(
  contact: Readonly<Record<(typeof SHOWN_FIELDS)[number], unknown>> & {
    readonly updatedAt: string | null;
  },
): VendorRecord {
  const shown = SHOWN_FIELDS.map((field) => crc32(JSON.stringify(contact[field] ?? null)));
  return { updatedAt: contact.updatedAt, shown };
}

/** Returns one text for an instant, however the service writes it; empty for none. */
export function recordKey(updatedAt: string | null): string {
  const ms = Date.parse(updatedAt ?? "");
  return Number.isNaN(ms) ? (updatedAt ?? "") : new Date(ms).toISOString();
}

/** True if the record was changed between two readings. */
export function isChanged(before: VendorRecord, now: VendorRecord): boolean {
  return recordKey(before.updatedAt) !== recordKey(now.updatedAt);
}

/** Says which fields of a changed record differ: `phone, emails differ`. */
export function differing(before: VendorRecord, now: VendorRecord): string {
  const fields = SHOWN_FIELDS.filter((_, index) => before.shown[index] !== now.shown[index]);
  if (fields.length === 0) return "none of the fields that the service shows differs";
  return `${fields.join(", ")} ${fields.length === 1 ? "differs" : "differ"}`;
}

/** Returns a vendor's bank account by its last digits; `none` if there is none. */
export function accountText(last4: string | null | undefined): string {
  return last4 == null ? "none" : `••${last4}`;
}

/** The fields of a vendor that say whether it may be paid as it was approved. */
export interface VendorNow {
  readonly displayName: string | null;
  readonly status: string;
  readonly paymentReady: boolean;
  readonly bankAccount: { readonly last4: string | null } | null;
  /** Fields that decide about money and are not as documented; set if there are any. */
  readonly unreadable?: Unreadable;
}

/** Returns why a vendor can't be paid now; null if it can. */
export function whyNotPayable(vendor: VendorNow): string | null {
  const { displayName, status, paymentReady, unreadable } = vendor;
  if (status === "active" && paymentReady) return null;
  const name = displayName ?? "The vendor";
  if (unreadable !== undefined) {
    return `${name} can't be paid now: ${unreadableText(unreadable)}. Have it corrected in the service.`;
  }
  return `${name} can't be paid by ACH now: no valid bank account on file, or not active.`;
}

/**
 * Says that a vendor's account is not the one that was approved; null if it is, by its last digits.
 */
export function vendorChange(
  { bankLast4 }: { readonly bankLast4: string | null },
  { bankAccount }: Pick<VendorNow, "bankAccount">,
): string | null {
  const last4 = bankAccount?.last4 ?? null;
  return last4 === bankLast4
    ? null
    : `the vendor's bank account changed from ${accountText(bankLast4)} to ${accountText(last4)}`;
}

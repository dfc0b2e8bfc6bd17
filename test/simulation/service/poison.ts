/** The part of a bill that can't be read. */
export interface Poisoned {
  readonly payableId: string;
  readonly contactId: string;
  readonly what: "bill" | "payments" | "vendor";
}

/** True if a read requests it. */
export function isPoisoned({ payableId, contactId, what }: Poisoned, url: URL): boolean {
  const path = decodeURIComponent(url.pathname);
  if (what === "bill") return path === `/v1/payables/${payableId}`;
  if (what === "vendor") return path === `/v1/contacts/${contactId}`;
  return path === "/v1/payments" && url.searchParams.get("payableId") === payableId;
}

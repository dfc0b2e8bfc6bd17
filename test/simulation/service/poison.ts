/** The part of a bill that can't be read. */
export interface Poisoned {
  readonly payableId: string;
  readonly contactId: string;
  readonly what: "bill" | "payments" | "vendor";
  /** True if it comes with a field that no service should send; else a read of it alone fails. */
  readonly isAbsurd: boolean;
}

type Json = Readonly<Record<string, unknown>>;

/** Returns a response in which the poisoned records have an absurd field, in lists as well. */
export function absurdIn(poisoned: Poisoned, path: string, body: unknown): unknown {
  const { payableId, contactId, what } = poisoned;
  const change = (record: Json): Json => {
    if (what === "payments" && record["payableId"] === payableId) {
      return { ...record, amountCents: -5_151 };
    }
    if (what === "bill" && record["id"] === payableId) return { ...record, totalAmountCents: 12.5 };
    if (what === "vendor" && record["id"] === contactId) return { ...record, paymentReady: "yes" };
    return record;
  };
  const isOne = typeof body === "object" && body !== null && path.startsWith("/v1/");
  if (!isOne) return body;
  const record = body as Json;
  const { items } = record;
  const isList = Array.isArray(items) && record["id"] === undefined;
  return isList ? { ...record, items: (items as readonly Json[]).map(change) } : change(record);
}

/** True if a read requests it. */
export function isPoisoned({ payableId, contactId, what }: Poisoned, url: URL): boolean {
  const path = decodeURIComponent(url.pathname);
  if (what === "bill") return path === `/v1/payables/${payableId}`;
  if (what === "vendor") return path === `/v1/contacts/${contactId}`;
  return path === "/v1/payments" && url.searchParams.get("payableId") === payableId;
}

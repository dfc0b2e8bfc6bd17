import { setTimeout as sleep } from "node:timers/promises";
import { contactView, payableView, paymentView, type StubBusiness } from "./stub-book.ts";

/** How a service treats those who read its lists of payments, bills and vendors. */
export type Manner = "drips" | "hangs" | "endless" | "lies";

export const MANNERS = ["drips", "hangs", "endless", "lies"] as const satisfies readonly Manner[];

const DRIP_MS = 2_000;

/** How many items a dripping list has, one on a page: few enough that no bound cuts its reading. */
const DRIPPING_ITEMS = 3_000;

const VIEWS: Readonly<Record<string, (of: StubBusiness, index: number) => object>> = {
  payments: (_of, index) => {
    const at = "2026-01-02T10:00:00.000Z";
    const bill = { payableId: `bill-${index}`, contactId: "vendor-0", amountCents: 10_000 };
    const payment = { id: `payment-${index}`, ...bill, scheduledAt: at, createdAt: at };
    return paymentView(payment, "completed");
  },
  payables: payableView,
  contacts: (_of, index) => contactView(index),
};

/**
 * Returns a page of a list as a badly behaved service shows it; undefined for what is no list, and
 * is answered as usual.
 */
export async function badPage(
  manner: Manner,
  business: StubBusiness,
  { resource, page, pageSize }: { resource: string; page: number; pageSize: number },
): Promise<{ readonly items: object[]; readonly totalCount?: number } | undefined> {
  const view = VIEWS[resource];
  if (manner === "hangs") await new Promise<never>(() => undefined);
  if (view === undefined) return undefined;
  const items = (first: number, length: number): object[] =>
    Array.from({ length }, (_, offset) => view(business, first + offset));
  if (manner === "drips") {
    await sleep(DRIP_MS);
    return { items: items(page, 1), totalCount: DRIPPING_ITEMS };
  }
  // It says no count: a list that says 10¹² is given up at its first page.
  if (manner === "endless") return { items: items(page * pageSize, pageSize) };
  // It always has one page more; every other page is the first one again.
  const first = page % 2 === 0 ? 0 : page * pageSize;
  return { items: items(first, pageSize), totalCount: (page + 1) * pageSize };
}

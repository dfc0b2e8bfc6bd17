import { expect, test } from "vitest";
import { changeOf } from "../../../src/domain/payments/as-approved.ts";
import { readBills } from "../../../activities/shared/read-bills.ts";
import type { PlanLine } from "../../../src/contracts/pay-run.ts";
import { sendJson, startService } from "../../payments-api/local-service.ts";

const NOT_FOUND = { error: "not_found", message: "no such bill" };

function bill(id: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id,
    status: "approved",
    paymentStatus: "none",
    totalAmountCents: 100,
    amountPaidCents: 0,
    dueDate: "2026-11-27",
    contact: { id: "con_1", displayName: "Nul\u0000l" },
    ...fields,
  };
}

/** A service whose list of bills has only ids, and whose limit refuses the first two reads. */
async function listing(bills: Record<string, Record<string, unknown>>) {
  let refusals = 0;
  return startService(({ url }, response) => {
    const { pathname } = new URL(url, "http://localhost");
    const id = /^\/v1\/payables\/(.+)$/.exec(pathname)?.[1];
    if (id !== undefined && refusals < 2) {
      refusals += 1;
      return sendJson(response, 429, {}, { "retry-after": "0.1" });
    }
    if (id !== undefined) {
      const found = bills[id];
      return found === undefined || found["gone"] === true
        ? sendJson(response, 404, NOT_FOUND)
        : sendJson(response, 200, found);
    }
    const items =
      pathname === "/v1/payables" ? Object.keys(bills).map((each) => ({ id: each })) : [];
    sendJson(response, 200, { items, totalCount: items.length });
  });
}

test("bills are read even if the list still has a deleted one and the service asks to slow down", async () => {
  const service = await listing({
    a: bill("a"),
    b: bill("b", { dueDate: "2026-11-28T00:00:00.000Z" }),
    gone: { gone: true },
    c: bill("c", { dueDate: "soon" }),
  });
  const { bills } = await readBills(service.client());
  const read = [...bills.values()].map(({ payableId, dueDate }) => [payableId, dueDate]);
  expect(read).toEqual([
    ["a", "2026-11-27"],
    ["b", "2026-11-28"],
    ["c", null],
  ]);
  expect([...bills.values()][0]?.contactName).toBe("Null");
});

test("a vendor's record is unchanged if only the notation of its instant differs", () => {
  const contact = { id: "con_1", bankAccount: { last4: "1111" } };
  const change = (planned: string | null, now: string | null): string | null => {
    const plan = {
      amountCents: 100,
      contactId: "con_1",
      bankLast4: "1111",
      contactUpdatedAt: planned,
      flags: [],
    } as unknown as PlanLine;
    return changeOf(plan, 100, { ...contact, updatedAt: now });
  };
  expect(change("2026-11-20T09:00:00Z", "2026-11-20T10:00:00.000+01:00")).toBeNull();
  expect(change(null, null)).toBeNull();
  expect(change("lately", "lately")).toBeNull();
  for (const now of ["2026-11-20T09:00:01Z", "lately", null]) {
    expect(change("2026-11-20T09:00:00Z", now)).toMatch(/record was changed/);
  }
  expect(change("lately", "just now")).toMatch(/record was changed/);
});

import { expect, test } from "vitest";
import { readBills } from "../../../activities/shared/read-bills.ts";
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

test("a bill that is answered with another bill's record is left out by name, and all others are read", async () => {
  const service = await listing({ a: bill("b"), b: bill("b"), c: bill("c") });
  const { bills } = await readBills(service.client());
  expect(bills.map(({ payableId, unreadable }) => [payableId, unreadable])).toEqual([
    ["a", { record: expect.stringContaining("it shows another record") as string }],
    ["b", undefined],
    ["c", undefined],
  ]);
});

test("the description of a bill that can't be paid any more isn't kept", async () => {
  const description = "x".repeat(1_000);
  const service = await listing({
    open: bill("open", { description }),
    paid: bill("paid", { description, amountPaidCents: 100 }),
    void: bill("void", { description, status: "void" }),
  });
  const { bills } = await readBills(service.client());
  expect(bills.map((each) => each.description)).toEqual([description, null, null]);
});

/** A service with active and revoked vendors, which answers a list of a status as it is told. */
function listingVendors(ofStatus: (status: string) => readonly object[] | null) {
  const active = [vendor("v1", "active"), vendor("v2", "active")];
  return startService(({ url }, response) => {
    const { pathname, searchParams } = new URL(url, "http://localhost");
    const status = searchParams.get("status");
    const isOfVendors = pathname === "/v1/contacts";
    const items = !isOfVendors ? [] : status === null ? active : ofStatus(status);
    if (items === null) return sendJson(response, 422, { error: "validation_error" });
    sendJson(response, 200, { items, totalCount: items.length });
  });
}

function vendor(id: string, status: string, paymentReady = true) {
  const unset = { emails: [], phone: null, netTerms: null, taxInfo: null, archivedAt: null };
  const times = { createdAt: "2026-01-01T00:00:00Z", updatedAt: null };
  const bankAccount = { last4: "4321" };
  const shown = { displayName: id, type: "payee", paymentDirection: "can_pay", bankAccount };
  return { id, status, paymentReady, ...shown, ...times, ...unset };
}

test("archived and revoked vendors are read as well, each once, and none of them can be paid, whatever is shown of it", async () => {
  const service = await listingVendors((status) =>
    status === "revoked" ? [vendor("v3", "active")] : [vendor("v1", "active")],
  );
  const { vendors } = await readBills(service.client());
  expect([...vendors.values()]).toMatchObject([
    { contactId: "v1", status: "active", paymentReady: true },
    { contactId: "v2", status: "active", paymentReady: true },
    { contactId: "v3", status: "revoked", paymentReady: false, bankLast4: "4321" },
  ]);
});

test("a service that lists vendors of no status by itself costs two requests, and no plan", async () => {
  for (const answer of [null, [vendor("v1", "active"), vendor("v2", "active")]]) {
    const service = await listingVendors(() => answer);
    const { vendors } = await readBills(service.client());
    expect([...vendors.keys()]).toEqual(["v1", "v2"]);
    const asked = service.received.filter(({ url }) => url.includes("status="));
    expect(asked).toHaveLength(2);
  }
});

import { beforeAll, describe, expect, type TestContext } from "vitest";
import { z } from "zod";
import { reads } from "./sentences.ts";
import {
  balanceTable,
  bankAccountTable,
  contactTable,
  fundingSourceTable,
  invoiceTable,
  payableTable,
  paymentTable,
} from "./shapes.ts";
import { contractWorld, FROM_BALANCE, newKey } from "./world.ts";

const world = contractWorld();

/** Creates one resource of each kind, because a new sandbox has none. */
beforeAll(async () => {
  if (!world.isSandbox) return;
  const payableId = await world.bill();
  await world.client.payments.create({ payableId, ...FROM_BALANCE }, newKey());
  await world.client.invoices.create({
    customerId: await world.vendor(),
    items: [{ name: "Work", quantity: 2, unitAmountCents: 50_00 }],
  });
});

type Skip = Pick<TestContext, "skip">;

/** Reads a resource; skips if the token may not read it, or the business has none of it. */
async function read(path: string, { skip }: Skip): Promise<Record<string, unknown>> {
  const { status, body } = await world.api("GET", path);
  if (status === 403) skip(`the token may not read ${path}, or the feature is off`);
  if (body["error"] === "setup_required") skip("the business has no balance yet");
  expect({ path, status, body }).toMatchObject({ status: 200 });
  return body;
}

async function itemsOf(path: string, context: Skip): Promise<unknown[]> {
  const body = await read(path, context);
  const items = z.array(z.unknown()).parse(body["items"]);
  if (items.length === 0) context.skip("the business has none");
  return items;
}

/** Reads by itself the first record of a list whose item fields are not specified. */
async function firstOf(path: string, context: Skip): Promise<Record<string, unknown>> {
  const [first] = await itemsOf(path, context);
  if (typeof first !== "object" || first === null || !("id" in first)) throw new Error("no id");
  return read(`${path}/${encodeURIComponent(String(first.id))}`, context);
}

function expectTable(table: z.ZodType, records: unknown[]): void {
  for (const record of records) {
    expect(table.safeParse(record).error?.issues ?? []).toEqual([]);
  }
}

const paginated = ["/v1/contacts", "/v1/payables", "/v1/payments"];

describe("resources and their fields (API specification, section 2)", () => {
  for (const path of paginated) {
    reads(`GET ${path} returns { items, totalCount }, by default 25 items`, async (context) => {
      const { items, totalCount } = await read(path, context);
      expect(items).toBeInstanceOf(Array);
      expect(totalCount).toBeTypeOf("number");
      expect((items as unknown[]).length).toBe(Math.min(Number(totalCount), 25));
    });

    reads(`GET ${path} counts the records across all pages`, async (context) => {
      const one = await read(`${path}?page=1&pageSize=1`, context);
      const two = await read(`${path}?page=2&pageSize=1`, context);
      expect(two["totalCount"]).toBe(one["totalCount"]);
      const ids = [...(one["items"] as unknown[]), ...(two["items"] as unknown[])].map(
        (item) => (item as { id?: unknown }).id,
      );
      expect(new Set(ids).size).toBe(Math.min(Number(one["totalCount"]), 2));
    });
  }

  reads("a contact has the fields of its table", async (context) => {
    expectTable(contactTable, await itemsOf("/v1/contacts", context));
  });

  reads("a business contact has no emails and no phone", async (context) => {
    const { items } = await read("/v1/contacts?type=business", context);
    for (const contact of items as Record<string, unknown>[]) {
      expect(contact).toMatchObject({ emails: [], phone: null });
    }
  });

  reads("a payment has the fields of its table", async (context) => {
    expectTable(paymentTable, await itemsOf("/v1/payments", context));
  });

  reads("a payable has the fields of its table", async (context) => {
    const payable = await firstOf("/v1/payables", context);
    expectTable(payableTable, [payable]);
    const { totalAmountCents, amountPaidCents, remainingAmountCents } = payableTable.parse(payable);
    expect(remainingAmountCents).toBe(totalAmountCents - amountPaidCents);
  });

  reads("an invoice has the fields of its table", async (context) => {
    // The specification only names the list: a service may have it at another address.
    const { status } = await world.api("GET", "/v1/invoices");
    if (status === 404) context.skip("there is no GET /v1/invoices");
    expectTable(invoiceTable, [await firstOf("/v1/invoices", context)]);
  });

  reads("a bill the business pays is not an invoice", async (context) => {
    const { id } = await firstOf("/v1/payables", context);
    const { status, body } = await world.api("GET", `/v1/invoices/${String(id)}`);
    if (status === 403) context.skip("the token may not read invoices");
    expect({ status, error: body["error"] }).toEqual({ status: 404, error: "not_found" });
  });

  reads(
    "a funding source has the fields of its table, and says why it can't pay",
    async (context) => {
      const sources = await itemsOf("/v1/funding-sources", context);
      expectTable(fundingSourceTable, sources);
      for (const source of sources) {
        const { canPay, unavailableReason, pay } = fundingSourceTable.parse(source);
        if (!canPay) expect(unavailableReason).not.toBeNull();
        expect(pay).toHaveProperty("paymentRail");
      }
    },
  );

  reads("the balance has the fields of its table", async (context) => {
    expectTable(balanceTable, [await read("/v1/balance", context)]);
  });

  reads(
    "GET /v1/bank-accounts returns all bank accounts, each with its fields",
    async (context) => {
      const { body, text, status } = await world.api("GET", "/v1/bank-accounts");
      if (status === 403) context.skip("the token may not read bank accounts");
      const list: unknown = Array.isArray(JSON.parse(text)) ? JSON.parse(text) : body["items"];
      expectTable(bankAccountTable, list as unknown[]);
    },
  );
});

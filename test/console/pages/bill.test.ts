import { expect, test } from "vitest";
import { Api } from "../../../src/console/api.ts";
import { bill } from "../../../src/console/pages/bill.ts";
import { holdBill } from "../../../src/console/pages/bill-acts.ts";
import { Refused } from "../../../src/console/refused.ts";
import type { ApiRequest, Visitor } from "../../../src/console/visitor.ts";

const found = {
  ...{ kind: "bill", id: "pbl_9", business: "acme", number: "BILL-000009" },
  ...{ name: "Marlowe Advertising", amountCents: 1_171_976, state: "approved" },
};

/** Answers as the API does if no run has seen the bill, but the service has it. */
async function perform({ path, query }: ApiRequest) {
  if (path.endsWith("/history"))
    return { status: 404, json: { error: "not_found", message: "No run has seen it." } };
  return {
    status: 200,
    json: { exact: query?.["q"] === "pbl_9" ? [found] : [], near: [], unread: [] },
  };
}

function pageOf(id: string) {
  const visitor = { perform, mayHold: () => Promise.resolve(true) } as unknown as Visitor;
  const query = new URLSearchParams({ business: "acme" });
  return bill({ visitor, api: new Api({ perform }), params: { id }, query });
}

test("a bill that no run has planned has a page, because the search leads to it", async () => {
  const page = await pageOf("pbl_9");
  if ("goTo" in page) throw new Error("no page");
  expect(page.title).toBe("BILL-000009, Marlowe Advertising");
  expect(String(await page.main)).toContain("No run has planned it");
  expect(String(await page.main)).toContain("$11,719.76");
});

test("a bill that no run has planned says how it is paid, and can be held before one does", async () => {
  const page = await pageOf("pbl_9");
  if ("goTo" in page) throw new Error("no page");
  const text = String(await page.main);
  expect(text).toContain("payrun pay BILL-000009");
  expect(text).toContain('href="/bills/pbl_9/hold?business=acme"');
  const query = new URLSearchParams({ business: "acme" });
  const visitor = { perform, formToken: { field: "t", value: "t" } } as unknown as Visitor;
  const asked = { visitor, api: new Api({ perform }), params: { id: "pbl_9" }, query };
  const form = await holdBill.page(asked);
  expect(form).toMatchObject({
    title: "Hold a bill",
    lead: "BILL-000009, Marlowe Advertising, $11,719.76",
  });
});

test("an unknown bill has no page", async () => {
  await expect(pageOf("pbl_8")).rejects.toBeInstanceOf(Refused);
});

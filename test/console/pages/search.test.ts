import { expect, test } from "vitest";
import { Api } from "../../../src/console/api.ts";
import { showFound } from "../../../src/console/pages/search.ts";
import type { Visitor } from "../../../src/console/visitor.ts";

const bill = {
  ...{ kind: "bill", business: "acme", name: "Osprey Robotics", amountCents: 245_000 },
  state: "scheduled",
};

/** Answers as the API does with two bills of the amount that is searched for. */
async function perform() {
  const near = ["1", "2"].map((no) => ({ ...bill, id: `pbl_${no}`, number: `BILL-00000${no}` }));
  return { status: 200, json: { exact: [], near, unread: [] } };
}

async function textOf(q: string): Promise<string> {
  const visitor = { perform, businesses: ["acme"] } as unknown as Visitor;
  const query = new URLSearchParams({ q });
  const page = await showFound({ visitor, api: new Api({ perform }), params: {}, query });
  if ("goTo" in page) throw new Error("no page");
  return String(await page.main);
}

test("bills of the searched amount are shown as matches by amount, not as guesses", async () => {
  for (const amount of ["2,450.00", "$2,450.00", "2450"]) {
    expect(await textOf(amount), amount).toContain("Of this amount");
  }
  expect(await textOf("2,450.01")).toContain("Did you mean");
});

import { expect, test } from "vitest";
import { Api } from "../../../src/console/api.ts";
import { resolveBills } from "../../../src/console/pages/needs-action.ts";
import type { ApiRequest, Visitor } from "../../../src/console/visitor.ts";

const resolved = {
  ...{ publicId: null, contactName: null, amountCents: 100, business: "acme" },
  ...{ action: "retry", runId: "pay-run/acme/weekly/1", state: "parked" },
};

/** Answers as the API does: bills are tried again, lose their approval or are kept by a hold. */
async function perform({ method, params }: ApiRequest) {
  const payableId = params?.["id"] ?? "";
  if (method === "get") {
    const page = { page: 1, pageSize: 100, nextPage: null };
    return { status: 200, json: { items: [], totalCount: 0, totalCents: 0, ...page } };
  }
  const ended = payableId === "p1" ? {} : { approvalEnded: "R03 ends its approval." };
  if (payableId === "p3") Object.assign(ended, { onHold: ["A hold on this bill applies to it."] });
  if (payableId === "p4")
    return { status: 200, json: { ...resolved, payableId, onHold: ["A hold applies to it."] } };
  return { status: 200, json: { ...resolved, payableId, ...ended } };
}

async function resolving(...bills: string[]) {
  const form = new URLSearchParams([
    ...bills.map((bill): [string, string] => ["bill", `acme/${bill}`]),
    ["action", "retry"],
    ["reason", "the vendor has called"],
  ]);
  const visitor = { perform } as unknown as Visitor;
  const query = new URLSearchParams();
  const page = await resolveBills({ visitor, api: new Api({ perform }), params: {}, query, form });
  if ("goTo" in page) throw new Error("no page");
  const text = String(await page.main).replaceAll(/<[^>]+>|\s+/g, " ");
  return { title: page.title, text: text.replaceAll(/ +/g, " ") };
}

test("a single bill whose approval has ended is shown as left to the next run", async () => {
  const { title, text } = await resolving("p2");
  expect(title).toBe("Not tried again now");
  expect(text).toMatch(/^ R03 ends its approval\. It is not tried again: the next run plans it/);
});

test("a bill whose approval has ended is shown apart from a bill that is tried again", async () => {
  const { title, text } = await resolving("p1", "p2");
  expect(title).toBe("Not all are tried again now");
  expect(text).toContain(
    "1 of 2: being tried again. 1 of 2: R03 ends its approval. It is not tried",
  );
  expect(text).toContain(
    "p2 p2 R03 ends its approval. It is not tried again: the next run plans it and asks for a new approval.",
  );
});

test("a bill that is left to the next run and held is shown with its hold", async () => {
  const { text } = await resolving("p3");
  expect(text).toContain("asks for a new approval. A hold on this bill applies to it.");
});

test("a bill on hold is not shown as tried again", async () => {
  const { title, text } = await resolving("p4");
  expect(title).toBe("Not tried again now");
  expect(text).toContain("tried again once no hold applies to it. A hold applies to it.");
});

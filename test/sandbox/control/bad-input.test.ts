import { describe, expect } from "vitest";
import type { TestSandbox } from "../../support/sandbox.ts";
import { sharedSandboxTest } from "../sandbox-test.ts";
import { makeBill, makeVendor } from "../world.ts";

const it = sharedSandboxTest().extend(
  "ids",
  { scope: "file" },
  async ({ service }): Promise<Readonly<Record<string, string>>> => ({
    business: service.business.businessId,
    payable: await makeBill(service),
    contact: await makeVendor(service),
  }),
);

async function post(
  sandbox: TestSandbox,
  ids: Readonly<Record<string, string>>,
  path: string,
  body: unknown,
  contentType = "application/json",
) {
  const target = path.replace(/\{(\w+)\}/g, (_, what: string) => ids[what] ?? "");
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const init = { method: "POST", headers: { "content-type": contentType }, body: text };
  const response = await fetch(`${sandbox.url}/sandbox${target}`, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const rule = { path: "/v1/payments", when: "before", effect: "drop" };
const forEver = { match: {}, outcome: "settle" };

/** Invalid requests, each with a word that the message of the response must contain. */
const bad: readonly (readonly [path: string, body: object, says: string])[] = [
  ["/reset", { fixture: "no-such" }, "fixture"],
  ["/reset", { fixtur: "blank" }, "fixtur"],
  ["/reset", { fixture: { businesses: [{}] } }, "name"],
  ["/tokens", {}, "businessId"],
  ["/tokens", { businessId: "{business}", scopes: ["payments:everything"] }, "scopes"],
  ["/tokens", { businessId: "{business}", expiresIn: 5 }, "expiresIn"],
  ["/tokens", { businessId: "{business}", expiresInSeconds: "soon" }, "expiresInSeconds"],
  ["/clock", { advance: "tomorrow" }, "tomorrow"],
  ["/clock", { set: "yesterday" }, "yesterday"],
  ["/clock", { scale: -1 }, "scale"],
  ["/clock", { wire: { scale: 2 } }, "scale"],
  ["/payables", { totalAmountCents: 0 }, "totalAmountCents"],
  ["/payables", { totalAmountCents: 1.5 }, "totalAmountCents"],
  ["/payables", { totalAmountCents: 5, status: "paid" }, "status"],
  ["/payables", { totalAmountCents: 5, dueDate: "soon" }, "dueDate"],
  ["/payables/{payable}", { status: "settled" }, "status"],
  ["/payables/{payable}", { amountCents: 5 }, "amountCents"],
  ["/payables/{payable}", { items: [{ name: "A", quantity: 0, unitAmountCents: 1 }] }, "quantity"],
  ["/contacts/{contact}", { status: "gone" }, "status"],
  ["/contacts/{contact}", { bankAccount: {} }, "accountNumber"],
  ["/contacts/{contact}", { bankAccount: { last4: "12" } }, "last4"],
  ["/contacts/{contact}", { bankAccount: { routingNumber: "123" } }, "routingNumber"],
  ["/contacts/{contact}", { name: "Other" }, "name"],
  ["/businesses/{business}", { verification: "maybe" }, "verification"],
  ["/businesses/{business}", { features: { invoices: true } }, "invoices"],
  ["/businesses/{business}", { balanceCents: -1 }, "balanceCents"],
  ["/payments", { payableId: "{payable}", amountCents: 100_001 }, "owed"],
  ["/payments", { amountCents: 5 }, "payableId"],
  ["/outcomes", { outcome: "settle" }, "match"],
  ["/outcomes", { ...forEver, outcome: "explode" }, "outcome"],
  ["/outcomes", { ...forEver, match: { payable: "x" } }, "payable"],
  ["/outcomes", { ...forEver, after: "5 days" }, "after"],
  ["/outcomes", { ...forEver, times: 0 }, "times"],
  ["/faults", { rules: [{ ...rule, when: "later" }] }, "when"],
  ["/faults", { rules: [{ ...rule, effect: "explode" }] }, "effect"],
  ["/faults", { rules: [{ ...rule, probabilty: 0.5 }] }, "probabilty"],
  ["/faults", { rules: [{ ...rule, probability: 1.5 }] }, "probability"],
  ["/faults", { rules: [{ ...rule, effect: "partial" }] }, "partial"],
  ["/faults", { rules: [{ ...rule, effect: "status", status: 99 }] }, "status"],
  ["/faults", { rules: [], webhook: { lose: 1 } }, "webhook"],
  ["/faults", { webhooks: { lose: 2 } }, "lose"],
  ["/faults", { webhooks: { loose: 1 } }, "loose"],
];

describe("the control API", () => {
  it.for(bad)(
    "the control API refuses POST %s %j and says what is wrong",
    async ([path, body, says], { sandbox, ids }) => {
      const filled = JSON.stringify(body).replace(/\{(business|payable)\}/g, (_, what: string) => {
        return ids[what] ?? "";
      });
      const answer = await post(sandbox, ids, path, filled);
      expect([400, 422]).toContain(answer.status);
      expect(answer.body).toEqual(
        expect.objectContaining({
          error: expect.any(String),
          message: expect.stringContaining(says),
        }),
      );
      expect(JSON.stringify(answer.body)).not.toContain("node_modules");
    },
  );

  it.for(["", "{", "[]", "null", '"text"', "5"])(
    "the control API refuses the body %s on a route that needs one",
    async (text, { sandbox, ids }) => {
      for (const path of ["/tokens", "/outcomes", "/payables/{payable}"]) {
        const answer = await post(sandbox, ids, path, text);
        expect(answer.status).toBe(400);
        expect(answer.body).toMatchObject({ error: "validation_error" });
      }
    },
  );

  it("the control API refuses other content types and returns 404 for unknown resources", async ({
    sandbox,
    ids,
  }) => {
    expect((await post(sandbox, ids, "/faults", "rules=none", "text/plain")).status).toBe(415);
    for (const path of ["/payables/x", "/contacts/x", "/businesses/x"]) {
      expect(await post(sandbox, ids, path, {})).toMatchObject({
        status: 404,
        body: { error: "not_found" },
      });
    }
    expect((await post(sandbox, ids, "/nothing", {})).status).toBe(404);
  });
});

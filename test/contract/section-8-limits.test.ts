import { describe, expect } from "vitest";
import { pays, reads, writes } from "./sentences.ts";
import { contractWorld, newKey, unique } from "./world.ts";

const world = contractWorld();

/**
 * Expects a refusal as out of range, by 400 or 422, since the specification says little about it.
 */
async function expectRefused(method: string, path: string, body?: unknown): Promise<void> {
  const key = method === "GET" ? {} : { key: newKey().idempotencyKey };
  const answer = await world.api(method, path, { body, ...key });
  expect([400, 422], `${method} ${path}: ${answer.text}`).toContain(answer.status);
  expect(answer.body["error"]).toBe("validation_error");
}

describe("limits (API specification, section 8)", () => {
  for (const query of ["pageSize=0", "pageSize=101", "pageSize=-1", "page=0", "page=-1"]) {
    reads(`${query} is out of range`, () => expectRefused("GET", `/v1/contacts?${query}`));
  }

  reads("a pageSize of 1 and one of 100 are taken", async () => {
    for (const size of [1, 100]) {
      const { status } = await world.api("GET", `/v1/contacts?pageSize=${size}`);
      expect(status).toBe(200);
    }
  });

  writes("a contact has at most five emails", async () => {
    const emails = ["a", "b", "c", "d", "e"].map((name) => `${name}@${unique("x").slice(2)}.test`);
    const { emails: kept } = await world.contact({ displayName: unique("Five mails"), emails });
    expect(kept).toHaveLength(5);
    await expectRefused("POST", "/v1/contacts", {
      displayName: unique("Six mails"),
      emails: [...emails, "f@x.test"],
    });
  });

  writes("netTerms are 0 or greater", async () => {
    const { id } = await world.contact({ displayName: unique("Terms") });
    expect((await world.client.contacts.update(id, { netTerms: 0 })).netTerms).toBe(0);
    await expectRefused("PATCH", `/v1/contacts/${id}`, { netTerms: -1 });
  });

  writes("an Idempotency-Key over 64 characters is a validation_error", async () => {
    const displayName = unique("Long key");
    const answer = await world.api("POST", "/v1/contacts", {
      body: { displayName },
      key: "x".repeat(65),
    });
    expect({ status: answer.status, error: answer.body["error"] }).toEqual({
      status: 400,
      error: "validation_error",
    });
  });

  pays(
    "a payment's customNumber has at most 21 characters, and its amount is at least 1",
    async () => {
      const body = await world.oneCent();
      await expectRefused("POST", "/v1/payments", { ...body, customNumber: "x".repeat(22) });
      await expectRefused("POST", "/v1/payments", { ...body, amountCents: 0 });
    },
  );

  pays("scheduledAt is tomorrow or later", async () => {
    const body = await world.oneCent();
    await expectRefused("POST", "/v1/payments", { ...body, scheduledAt: "2020-01-02" });
  });
});

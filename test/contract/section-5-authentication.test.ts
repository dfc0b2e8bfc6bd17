import { describe, expect } from "vitest";
import { onSandbox, reads } from "./sentences.ts";
import { contractWorld, FROM_BALANCE, newKey, refusal } from "./world.ts";

const world = contractWorld();

async function token(options: { scopes?: string[]; expiresInSeconds?: number }): Promise<string> {
  return world.sandbox.control.token(undefined, options);
}

describe("authentication (API specification, section 5)", () => {
  reads(
    "a missing or malformed token answers 401 with { statusCode, message: Unauthorized }",
    async () => {
      const error = await refusal(world.clientWith("no.such.token").payables.list());
      expect(error).toMatchObject({ status: 401, code: "unauthorized", outcome: "not_applied" });
      for (const token of [null, "no.such.token"]) {
        const { status, body } = await world.api("GET", "/v1/payables", { token });
        expect(status).toBe(401);
        expect(body).toMatchObject({ statusCode: 401, message: "Unauthorized" });
      }
    },
  );

  onSandbox("an expired token answers 401", async () => {
    const client = world.clientWith(await token({ expiresInSeconds: 60 }));
    await client.payables.list();
    await world.sandbox.control.advanceWire("PT2M");
    expect((await refusal(client.payables.list())).status).toBe(401);
  });

  onSandbox("a token that lacks payments:initiate answers 403, and moves no money", async () => {
    const payableId = await world.bill();
    const client = world.clientWith(await token({ scopes: ["payments:read", "payables:read"] }));
    const error = await refusal(client.payments.create({ payableId, ...FROM_BALANCE }, newKey()));
    expect(error).toMatchObject({ status: 403, code: "forbidden", outcome: "not_applied" });
    expect(await world.client.payments.listAll({ payableId })).toEqual([]);
  });

  onSandbox("payments are read with payments:read or with payables:read", async () => {
    for (const scope of ["payments:read", "payables:read"]) {
      const client = world.clientWith(await token({ scopes: [scope] }));
      expect((await client.payments.list()).items).toBeInstanceOf(Array);
    }
    const blind = world.clientWith(await token({ scopes: ["webhooks:read"] }));
    expect((await refusal(blind.payments.list())).status).toBe(403);
  });

  onSandbox("the balance is read with balance:read only", async () => {
    const client = world.clientWith(await token({ scopes: ["payments:read"] }));
    expect((await refusal(client.balance.get())).status).toBe(403);
  });

  onSandbox("a token never appears in an error", async () => {
    const secret = await token({ scopes: [] });
    const error = await refusal(world.clientWith(secret).balance.get());
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain(secret);
  });
});

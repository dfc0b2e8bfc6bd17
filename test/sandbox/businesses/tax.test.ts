import { expect } from "vitest";
import { sandboxTest } from "../sandbox-test.ts";
import { call, certify, signature, submit, taxId, verification } from "./kyb.ts";

const it = sandboxTest("unverified");

it("the check of a tax id has a result after a minute of the bank clock", async ({ sandbox }) => {
  const sent = await call(sandbox, "PATCH", "/tax", taxId);
  expect(sent).toMatchObject({
    status: 200,
    body: {
      legalName: "Unverified Company",
      taxIdType: "ein",
      taxIdMask: "4321",
      tinCheck: { status: "pending", checkedAt: null },
      signature: null,
    },
  });
  expect(await verification(sandbox)).toMatchObject({
    tinCheck: { status: "pending" },
    steps: { tax: "submitted" },
  });
  await sandbox.control.advance("PT1M");
  expect(await verification(sandbox)).toMatchObject({
    tinCheck: { status: "matched", checkedAt: expect.any(String) },
    steps: { tax: "accepted" },
  });
});

it.for([
  ["by the tax id that never matches", { ein: "11-1111111" }, false],
  ["by the reviewer's word", taxId, true],
])(
  "after a mismatch the tax id must be submitted again: %s",
  async ([_, sent, byHand], { sandbox }) => {
    await call(sandbox, "PATCH", "/tax", sent);
    if (byHand) await sandbox.control.changeBusiness({ tinCheck: "mismatched" });
    else await sandbox.control.advance("PT1M");
    const found = await verification(sandbox);
    expect(found).toMatchObject({ tinCheck: { status: "mismatched" }, steps: { tax: "missing" } });
    expect(found.nextSteps[0]).toMatchObject({
      step: "tax",
      message: expect.stringContaining("IRS"),
    });
    expect((await call(sandbox, "PATCH", "/tax/signature", signature)).status).toBe(409);
    await call(sandbox, "PATCH", "/tax", { ein: "987650000" });
    await sandbox.control.advance("PT1M");
    expect(await verification(sandbox)).toMatchObject({ steps: { tax: "accepted" } });
  },
);

it("submitting the same tax id again keeps the signature, another one removes it", async ({
  sandbox,
}) => {
  await submit(sandbox, "signature");
  await call(sandbox, "PATCH", "/tax", { ein: "987654321" });
  expect(await verification(sandbox)).toMatchObject({ steps: { signature: "submitted" } });
  expect((await call(sandbox, "GET", "/tax")).body).toMatchObject({ signature });
  await call(sandbox, "PATCH", "/tax", { ein: "98-7654322" });
  expect(await verification(sandbox)).toMatchObject({ steps: { signature: "missing" } });
  expect((await call(sandbox, "GET", "/tax")).body).toMatchObject({ signature: null });
});

it.for([
  [{}, 400, "ein"],
  [{ ein: "987654321", ssn: "123456789" }, 400, "ein"],
  [{ ein: 987_654_321 }, 400, "ein"],
  [{ ein: "98765432" }, 422, "ein"],
  [{ ein: "9-87654321" }, 422, "ein"],
  [{ ssn: "98-7654321" }, 422, "ssn"],
  [{ ssn: "123-456789" }, 422, "ssn"],
])("the tax info %j is refused with %i, naming %s", async ([body, status, field], { sandbox }) => {
  expect(await call(sandbox, "PATCH", "/tax", body)).toMatchObject({
    status,
    body: { error: "validation_error", details: { field } },
  });
});

it("a sole proprietorship must submit an SSN, and every other kind an EIN", async ({ sandbox }) => {
  for (const [entityType, wanted, other] of [
    ["sole_proprietorship", "ssn", "ein"],
    ["llc", "ein", "ssn"],
    ["corporation", "ein", "ssn"],
    ["partnership", "ein", "ssn"],
  ] as const) {
    await sandbox.control.reset({
      businesses: [{ name: "Company", verification: "pending", entityType }],
    });
    expect(await call(sandbox, "PATCH", "/tax", { [other]: "987654321" })).toMatchObject({
      status: 422,
      body: { details: { field: other } },
    });
    const taken = await call(sandbox, "PATCH", "/tax", { [wanted]: "987654321" });
    expect(taken).toMatchObject({ status: 200, body: { taxIdType: wanted } });
  }
});

it.for<[string, string, string, string]>([
  ["PATCH", "/tax/signature", "signerName", "signedAt"],
  ["POST", certify, "certifierName", "certifiedAt"],
])(
  "%s %s needs a name and an ISO 8601 time that is not in the future",
  async ([method, rest, who, when], { sandbox }) => {
    const { bank } = await sandbox.control.clock();
    const dayAhead = new Date(Date.parse(bank) + 86_400_000).toISOString();
    const refusals: [object, number, string][] = [
      [{ [when]: "2026-01-15" }, 400, who],
      [{ [who]: "Ada" }, 400, when],
      [{ [who]: " ", [when]: "2026-01-15" }, 422, who],
      [{ [who]: "Ada", [when]: 1_768_000_000 }, 400, when],
      [{ [who]: "Ada", [when]: "yesterday" }, 422, when],
      [{ [who]: "Ada", [when]: "2026-02-30" }, 422, when],
      [{ [who]: "Ada", [when]: "2026-01-15T09:00:00" }, 422, when],
      [{ [who]: "Ada", [when]: dayAhead }, 422, when],
    ];
    for (const [body, status, field] of refusals) {
      expect(await call(sandbox, method, rest, body), JSON.stringify(body)).toMatchObject({
        status,
        body: { error: "validation_error", details: { field } },
      });
    }
  },
);

it("the check's result can't be set before a tax id is submitted", async ({ sandbox }) => {
  await expect(sandbox.control.changeBusiness({ tinCheck: "matched" })).rejects.toThrow(/422/);
});

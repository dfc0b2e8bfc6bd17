import { expect } from "vitest";
import { operations } from "../../../src/sandbox/operations.ts";
import { sandboxTest } from "../sandbox-test.ts";
import {
  at,
  call,
  certification,
  certify,
  documents,
  officer,
  pdf,
  png,
  signature,
  submit,
  taxId,
  upload,
  uploadLetter,
  verification,
} from "./kyb.ts";

const it = sandboxTest("unverified");

it("an unverified business has every step missing and its next steps in order", async ({
  sandbox,
}) => {
  const { status, body } = await call(sandbox, "GET", "/tax/detailed");
  expect(status).toBe(200);
  expect(body).toEqual({
    businessId: sandbox.business.businessId,
    status: "pending",
    reason: null,
    taxIdType: null,
    taxIdMask: null,
    tinCheck: { status: "not_started", checkedAt: null },
    steps: {
      tax: "missing",
      signature: "missing",
      officers: "missing",
      certification: "missing",
      documents: "missing",
    },
    requestedDocuments: [],
    nextSteps: ["tax", "signature", "officers", "certification"].map((step) => ({
      step,
      message: expect.any(String),
    })),
    decidedAt: null,
  });
  expect((await call(sandbox, "GET", "/officers")).body).toEqual({ items: [] });
});

it("a business can pay only after it has gone through the five steps to verified", async ({
  sandbox,
}) => {
  const payment = () =>
    sandbox.api("POST", "/v1/payments", {
      key: crypto.randomUUID(),
      body: { contactId, amountCents: 100, paymentRail: "SERVICE", fundingSource: "balance" },
    });
  const { body: contact } = await sandbox.api<{ id: string }>("POST", "/v1/contacts", {
    body: {
      displayName: "Vendor",
      bankAccount: {
        accountNumber: "000123456789",
        routingNumber: "021000021",
        accountType: "checking",
      },
    },
  });
  const contactId = contact.id;
  await submit(sandbox);
  expect(await verification(sandbox)).toMatchObject({
    status: "pending",
    steps: { signature: "submitted", officers: "submitted", certification: "submitted" },
    nextSteps: [],
  });
  expect((await payment()).body).toMatchObject({ error: "setup_incomplete" });
  await sandbox.control.changeBusiness({ verification: "document", reason: "Show the EIN letter" });
  expect(await verification(sandbox)).toMatchObject({
    status: "document",
    reason: "Show the EIN letter",
    requestedDocuments: ["einLetter"],
    nextSteps: [{ step: "documents", message: "Show the EIN letter" }],
  });
  expect(await uploadLetter(sandbox)).toMatchObject({ status: 201 });
  expect(await verification(sandbox)).toMatchObject({
    status: "pending",
    reason: null,
    steps: { documents: "submitted" },
    nextSteps: [],
  });
  expect((await payment()).body).toMatchObject({ error: "setup_incomplete" });
  await sandbox.control.changeBusiness({ verification: "verified", balanceCents: 5_000 });
  const done = await verification(sandbox);
  expect(done).toMatchObject({ status: "verified", nextSteps: [] });
  expect(new Set(Object.values(done.steps))).toEqual(new Set(["accepted"]));
  expect((await payment()).status).toBe(201);
});

it("a step is refused with setup_incomplete and the missing steps before it", async ({
  sandbox,
}) => {
  const refused = async (method: string, rest: string, body: unknown, missing: string[]) => {
    expect(await call(sandbox, method, rest, body), rest).toMatchObject({
      status: 409,
      body: { error: "setup_incomplete", details: { missing } },
    });
  };
  await refused("PATCH", "/tax/signature", signature, ["tax"]);
  await refused("POST", "/officers", officer, ["tax", "signature"]);
  await submit(sandbox, "tax");
  await refused("POST", "/officers", officer, ["signature"]);
  await submit(sandbox, "signature");
  await refused("POST", certify, certification, ["officers"]);
});

it("documents are accepted only while they are requested, once for each request", async ({
  sandbox,
}) => {
  const refused = { status: 422, body: { error: "validation_error" } };
  await submit(sandbox);
  expect(await uploadLetter(sandbox)).toMatchObject(refused);
  for (let round = 0; round < 2; round += 1) {
    await sandbox.control.changeBusiness({ verification: "document" });
    expect(await verification(sandbox)).toMatchObject({
      status: "document",
      steps: { documents: "missing" },
    });
    expect(await uploadLetter(sandbox)).toMatchObject({
      status: 201,
      body: { documentType: "einLetter", contentType: "application/pdf", sizeBytes: pdf.length },
    });
    expect(await uploadLetter(sandbox)).toMatchObject(refused);
  }
});

it("a document with a missing or wrong type, or an empty or too large file, is refused", async ({
  sandbox,
}) => {
  await sandbox.control.changeBusiness({ verification: "document" });
  const einLetter = { documentType: "einLetter" };
  const refusals: [Uint8Array, Record<string, string>, number, string][] = [
    [pdf, {}, 400, "documentType"],
    [pdf, { documentType: "passport" }, 422, "documentType"],
    [new TextEncoder().encode("plain text"), einLetter, 422, "file"],
    [new Uint8Array(), einLetter, 422, "file"],
    [Buffer.concat([pdf], 10_000_001), einLetter, 422, "file"],
  ];
  for (const [content, fields, status, field] of refusals) {
    expect(await upload(sandbox, documents, content, fields)).toMatchObject({
      status,
      body: { error: "validation_error", details: { field } },
    });
  }
  const largest = Buffer.concat([pdf], 10_000_000);
  expect((await upload(sandbox, documents, largest, einLetter)).status).toBe(201);
});

it("a suspended business gets the reason and next steps, and can still add officers", async ({
  sandbox,
}) => {
  await submit(sandbox);
  await sandbox.control.changeBusiness({
    verification: "suspended",
    reason: "The owners could not be identified",
    nextSteps: ["Add the owner who is missing", "Write to support"],
  });
  expect(await verification(sandbox)).toMatchObject({
    status: "suspended",
    reason: "The owners could not be identified",
    nextSteps: [
      { step: "support", message: "Add the owner who is missing" },
      { step: "support", message: "Write to support" },
    ],
  });
  const second = { ...officer, firstName: "Ben", ssn: "222334444" };
  expect((await call(sandbox, "POST", "/officers", second)).status).toBe(201);
  expect(await verification(sandbox)).toMatchObject({
    status: "suspended",
    steps: { certification: "missing" },
  });
  await sandbox.control.changeBusiness({ verification: "verified" });
  expect(await verification(sandbox)).toMatchObject({ status: "verified", reason: null });
});

it("a verified business can't submit any step again", async ({ sandbox }) => {
  await sandbox.control.reset("blank");
  const calls: [string, string, unknown][] = [
    ["PATCH", "/tax", taxId],
    ["PATCH", "/tax/signature", signature],
    ["POST", "/officers", officer],
    ["POST", certify, certification],
  ];
  for (const [method, rest, body] of calls) {
    expect(await call(sandbox, method, rest, body), rest).toMatchObject({
      status: 422,
      body: { error: "validation_error", message: expect.stringContaining("verified") },
    });
  }
  const found = await verification(sandbox);
  expect(new Set(Object.values(found.steps))).toEqual(new Set(["accepted"]));
  expect((await call(sandbox, "GET", "/tax")).body).toMatchObject({ taxIdType: "ein" });
});

it("verification goes on where it was after kill -9", async ({ sandbox }) => {
  await submit(sandbox);
  await upload(sandbox, "/logo", new Uint8Array([0xff, 0xd8, 0xff, 0xe0]));
  await sandbox.control.advance("PT1M");
  await sandbox.control.changeBusiness({ verification: "document", reason: "Letter" });
  const paths = ["", "/tax", "/tax/detailed", "/officers"];
  const read = () => Promise.all(paths.map((rest) => sandbox.api("GET", at(sandbox, rest))));
  const before = await read();
  await sandbox.restart("SIGKILL");
  expect((await read()).map(({ text }) => text)).toEqual(before.map(({ text }) => text));
  expect((await uploadLetter(sandbox)).status).toBe(201);
});

it("business operations return exactly the shapes that the API's document promises", async ({
  sandbox,
}) => {
  const expectShape = (name: string, status: number, body: unknown) => {
    const promise = operations.find((operation) => operation.name === name)?.answer;
    if (promise === undefined || !("body" in promise)) throw new Error(`${name} promises nothing`);
    expect(status, name).toBe(promise.status);
    // Parsing drops unknown fields, so equality shows that there are none.
    expect(promise.body.parse(body), name).toEqual(body);
  };
  const look = async (name: string, method: string, rest: string, body?: unknown) => {
    const answer = await call(sandbox, method, rest, body);
    expectShape(name, answer.status, answer.body);
  };
  const read = async () => {
    await look("getBusiness", "GET", "");
    await look("getTaxInfo", "GET", "/tax");
    await look("getVerification", "GET", "/tax/detailed");
    await look("listOfficers", "GET", "/officers");
    const list = await sandbox.api("GET", "/api/businesses");
    expectShape("listBusinesses", list.status, list.body);
  };
  await read();
  await look("setBusinessAlias", "PATCH", "/alias", { alias: "Unverified" });
  await look("submitTaxInfo", "PATCH", "/tax", taxId);
  await look("signTaxForm", "PATCH", "/tax/signature", signature);
  await look("addOfficer", "POST", "/officers", officer);
  await look("certifyBeneficialOwnership", "POST", certify, certification);
  const logo = await upload(sandbox, "/logo", png);
  expectShape("uploadBusinessLogo", logo.status, logo.body);
  await read();
  await sandbox.control.changeBusiness({ verification: "document", reason: "The letter" });
  await read();
  const letter = await uploadLetter(sandbox);
  expectShape("uploadVerificationDocument", letter.status, letter.body);
  await sandbox.control.changeBusiness({ verification: "verified", balanceCents: 10_000 });
  await read();
  await look("getBusinessBalance", "GET", "/balance");
});

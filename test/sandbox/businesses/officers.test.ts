import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { Json, TestSandbox } from "../../support/sandbox.ts";
import { sandboxTest } from "../sandbox-test.ts";
import {
  at,
  call,
  certification,
  certify,
  officer,
  signature,
  submit,
  uploadLetter,
  verification,
} from "./kyb.ts";

const it = sandboxTest("unverified").extend("sandbox", async ({ sandbox }) => {
  await submit(sandbox, "signature");
  return sandbox;
});

it("officers are listed in order, with only the last four digits of their SSN", async ({
  sandbox,
}) => {
  const first = await call(sandbox, "POST", "/officers", officer);
  expect(first.status).toBe(201);
  const second = { ...officer, firstName: "Ben", title: "Owner", ssn: "222334444" };
  await call(sandbox, "POST", "/officers", second);
  expect((await call(sandbox, "GET", "/officers")).body).toEqual({
    items: [
      {
        id: first.body["id"],
        firstName: "Ada",
        lastName: "Okafor",
        title: "Chief Executive",
        ssnLast4: "9876",
      },
      {
        id: expect.any(String),
        firstName: "Ben",
        lastName: "Okafor",
        title: "Owner",
        ssnLast4: "4444",
      },
    ],
  });
});

it("an officer needs every field, and an error names the missing or invalid one", async ({
  sandbox,
}) => {
  const { address } = officer;
  const without = (name: keyof typeof officer) =>
    Object.fromEntries(Object.entries(officer).filter(([key]) => key !== name));
  for (const name of Object.keys(officer) as (keyof typeof officer)[]) {
    await expectRefused(sandbox, without(name), 400, name);
  }
  for (const name of Object.keys(address)) {
    const rest = Object.fromEntries(Object.entries(address).filter(([key]) => key !== name));
    await expectRefused(sandbox, { ...officer, address: rest }, 400, `address.${name}`);
  }
  const wrong: [Json, number, string][] = [
    [{ firstName: "  " }, 422, "firstName"],
    [{ lastName: 7 }, 400, "lastName"],
    [{ title: "x".repeat(101) }, 422, "title"],
    [{ dateOfBirth: "28.02.1979" }, 422, "dateOfBirth"],
    [{ dateOfBirth: "1979-02-30" }, 422, "dateOfBirth"],
    [{ dateOfBirth: "2999-01-01" }, 422, "dateOfBirth"],
    [{ dateOfBirth: "1899-12-31" }, 422, "dateOfBirth"],
    [{ ssn: "12345678" }, 422, "ssn"],
    [{ address: "12 Harbor Street" }, 400, "address"],
    [{ address: { ...address, state: "Maine" } }, 422, "address.state"],
    [{ address: { ...address, zip: "4101" } }, 422, "address.zip"],
    [{ address: { ...address, country: "Freedonia" } }, 422, "address.country"],
  ];
  for (const [fields, status, field] of wrong) {
    await expectRefused(sandbox, { ...officer, ...fields }, status, field);
  }
  expect((await call(sandbox, "GET", "/officers")).body).toEqual({ items: [] });
});

async function expectRefused(
  sandbox: TestSandbox,
  body: unknown,
  status: number,
  field: string,
): Promise<void> {
  expect(await call(sandbox, "POST", "/officers", body), field).toMatchObject({
    status,
    body: { error: "validation_error", details: { field } },
  });
}

it("an officer's address may be abroad", async ({ sandbox }) => {
  const address = {
    street: "Torstr. 1",
    city: "Berlin",
    state: "Berlin",
    zip: "10119",
    country: "DE",
  };
  expect((await call(sandbox, "POST", "/officers", { ...officer, address })).status).toBe(201);
});

it("an officer who is already listed is refused, however the SSN is written", async ({
  sandbox,
}) => {
  const first = await call(sandbox, "POST", "/officers", officer);
  expect(await call(sandbox, "POST", "/officers", { ...officer, ssn: "321549876" })).toMatchObject({
    status: 409,
    body: { error: "duplicate_officer", details: { officerId: first.body["id"] } },
  });
});

it("adding an officer after the certification makes it missing again", async ({ sandbox }) => {
  await call(sandbox, "POST", "/officers", officer);
  const certified = await call(sandbox, "POST", certify, certification);
  expect(certified).toMatchObject({ status: 200, body: certification });
  expect(await verification(sandbox)).toMatchObject({ steps: { certification: "submitted" } });
  await call(sandbox, "POST", "/officers", { ...officer, ssn: "222334444" });
  const { steps, nextSteps } = await verification(sandbox);
  expect(steps.certification).toBe("missing");
  expect(nextSteps).toMatchObject([{ step: "certification" }]);
});

it("no tax id, SSN, birth date, address or document is ever returned or stored", async ({
  sandbox,
}) => {
  const secrets = [
    "98-7654321",
    "987654321",
    "321-54-9876",
    "321549876",
    "1979-02-28",
    "12 Harbor Street",
    "04101-2286",
    "an EIN letter",
  ];
  const texts: string[] = [];
  const record = async (method: string, rest: string, body?: unknown) => {
    texts.push((await call(sandbox, method, rest, body)).text);
  };
  await record("PATCH", "/tax", { ein: "98-7654321" });
  await record("PATCH", "/tax", { ein: "98-7654321 " });
  await record("PATCH", "/tax", { ein: "98-7654321", ssn: "321-54-9876" });
  await record("PATCH", "/tax/signature", signature);
  await record("POST", "/officers", officer);
  await record("POST", "/officers", { ...officer, title: "" });
  await record("POST", "/officers", officer);
  await record("POST", certify, certification);
  await sandbox.control.changeBusiness({ verification: "document" });
  texts.push(JSON.stringify(await uploadLetter(sandbox)));
  for (const rest of ["", "/tax", "/tax/detailed", "/officers"]) await record("GET", rest);
  texts.push((await sandbox.api("GET", "/api/businesses")).text);
  const review = await fetch(`${sandbox.url}/sandbox${at(sandbox).slice("/api".length)}`);
  texts.push(await review.text(), JSON.stringify(await sandbox.control.requests()));
  for (const name of await readdir(sandbox.dataDir)) {
    texts.push((await readFile(join(sandbox.dataDir, name))).toString("latin1"));
  }
  for (const secret of secrets) {
    expect(texts.filter((text) => text.includes(secret)).length, secret).toBe(0);
  }
});

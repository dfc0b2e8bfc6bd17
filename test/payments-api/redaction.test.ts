import { inspect } from "node:util";
import { expect, test } from "vitest";
import type { PaymentsClient } from "../../src/payments-api/index.ts";
import { PaymentsApiError } from "../../src/payments-api/index.ts";
import { rejection, sendJson, startService } from "./local-service.ts";

const ssn = "521-43-8765";
const ein = "83-1234567";
const dateOfBirth = "1971-04-09";
const accountNumber = "998877665544";
const address = { street: "1 Way", city: "Troy", state: "NY", zip: "12180", country: "US" };
const officer = { firstName: "Ann", lastName: "Lee", title: "CEO", dateOfBirth, ssn, address };
const bankAccount = { accountNumber, routingNumber: "021000021", accountType: "checking" as const };

/** Every form of the planted values in which a service may repeat them. */
const planted = [
  ssn,
  "521438765",
  "521 43 8765",
  ein,
  "831234567",
  accountNumber,
  "9988-7766-5544",
  dateOfBirth,
  "19710409",
  "4/9/1971",
  "09.04.1971",
];

const calls: [
  name: string,
  call: (client: PaymentsClient) => Promise<unknown>,
  hidden: string[],
][] = [
  [
    "a contact",
    (client) =>
      client.contacts.create({
        displayName: "A",
        bankAccount,
        taxInfo: { legalName: "A", taxIdType: "ein", taxId: ein },
      }),
    planted.filter((text) => /^(83|99)/.test(text)),
  ],
  [
    "a bank account",
    (client) => client.bankAccounts.create(bankAccount),
    planted.filter((text) => text.startsWith("99")),
  ],
  [
    "an EIN",
    (client) => client.verification.submitTaxInfo("b", { ein }),
    planted.filter((text) => text.startsWith("83")),
  ],
  [
    "an SSN",
    (client) => client.verification.submitTaxInfo("b", { ssn }),
    planted.filter((text) => text.startsWith("521")),
  ],
  [
    "an officer",
    (client) => client.officers.add("b", officer),
    planted.filter((text) => /^521|71/.test(text) && !text.startsWith("8")),
  ],
  ["a read", (client) => client.officers.list("b"), [ssn, ein]],
];

/** Returns everything that a log could show of an error. */
function everythingOf(error: unknown): string {
  const shown = [inspect(error, { depth: 20, showHidden: true }), JSON.stringify(error)];
  if (error instanceof PaymentsApiError) {
    shown.push(error.stack ?? "", String(error), JSON.stringify(error.details));
  }
  return shown.join("\n");
}

test.each(calls)(
  "the error of a refusal that repeats %s shows none of it",
  async (_name, call, hidden) => {
    expect(hidden.length).toBeGreaterThan(1);
    const service = await startService((_received, response) =>
      sendJson(response, 422, {
        error: "validation_error",
        message: planted.join(", "),
        details: {
          field: "ssn",
          values: planted,
          number: 521438765,
          [ssn]: { deep: [`was ${planted.join(" ")}`] },
        },
      }),
    );
    const error = await rejection(call(service.client()));
    expect(error).toMatchObject({ code: "validation_error", details: { field: "ssn" } });
    const shown = everythingOf(error);
    for (const text of hidden) expect(shown).not.toContain(text);
  },
);

test.each(calls)(
  "the error of an unreadable response that repeats %s shows none of it",
  async (_name, call) => {
    const service = await startService((_received, response, index) => {
      if (index % 2 === 0) response.writeHead(400).end(`<p>${planted.join(" ")}</p>`);
      else sendJson(response, 200, { id: 7, items: planted, ...Object.fromEntries([[ssn, ssn]]) });
    });
    const client = service.client();
    for (let index = 0; index < 2; index += 1) {
      const outcome = await call(client).catch((error: unknown) => error);
      if (!(outcome instanceof PaymentsApiError)) continue;
      for (const text of planted) expect(everythingOf(outcome)).not.toContain(text);
    }
  },
);

test("the error of a dropped connection shows nothing of the request", async () => {
  const service = await startService((_received, response) => void response.destroy());
  const error = await rejection(service.client().officers.add("b", officer));
  expect(error).toMatchObject({ outcome: "unknown" });
  for (const text of planted) expect(everythingOf(error)).not.toContain(text);
});

test("officers and tax info are read without personal data, whatever else the service returns", async () => {
  const service = await startService((received, response) =>
    received.url.endsWith("/officers")
      ? sendJson(response, 200, { items: [{ ...officer, ssnLast4: "8765" }] })
      : sendJson(response, 200, { ein, taxIdMask: "4567", legalName: "Lee" }),
  );
  const client = service.client();
  expect(await client.officers.list("b")).toEqual([
    { firstName: "Ann", lastName: "Lee", title: "CEO", ssnLast4: "8765" },
  ]);
  expect(await client.verification.getTaxInfo("b")).toEqual({
    taxIdMask: "4567",
    legalName: "Lee",
  });
});

import { get } from "node:http";
import { expect } from "vitest";
import { NEW_YORK, zonedWallTime } from "../../../src/domain/clock/new-york.ts";
import { smtpReceiver } from "../../notices/receivers.ts";
import { bankDate, type Bill, vendor } from "../../support/bills.ts";
import type { Json } from "../../support/sandbox.ts";
import type { TestPayrun } from "../../support/payrun.ts";
import { payrunTest } from "../../support/payrun-test.ts";
import { clockNoticed, lineOf, paymentsOf } from "../../support/scene.ts";
import { until } from "../../support/waits.ts";

const test = payrunTest({ profile: {} });

const REVIEW = ["{ when: review, by: [controller, owner], quorum: 2 }"];
const ONE = ["{ by: [controller, owner] }"];
const OWNER_ABOVE = (over: string) => [`{ over: ${over}, by: [owner] }`, "{ by: [controller] }"];

interface Playbook {
  readonly approve: readonly string[];
  readonly review?: string;
  /** As the value of `hurry`. */
  readonly hurry?: string;
  readonly more?: readonly string[];
}

/** Stores a playbook that pays the bills described by `about`. */
async function store(
  payrun: TestPayrun,
  name: string,
  { approve, review = "[]", hurry, more = [] }: Playbook,
  about = name,
): Promise<void> {
  const text = [
    "kind: pay-run",
    "select: { due: all }",
    `where: 'payable.description == "${about}"'`,
    "pay: { on: next-business-day }",
    `review: ${review}`,
    "approve:",
    "  rules:",
    ...approve.map((rule) => `    - ${rule}`),
    ...(hurry === undefined ? [] : [`  hurry: ${hurry}`]),
    "late: next-business-day",
    ...more,
  ];
  await payrun.apply(name, `${text.join("\n")}\n`);
}

/** Stores a playbook, and has a run of it planned. */
async function planned(
  payrun: TestPayrun,
  name: string,
  playbook: Playbook,
  about = name,
): Promise<string> {
  await store(payrun, name, playbook, about);
  const runId = await payrun.launch(name);
  await payrun.untilPhase(runId, "awaiting-approval");
  return runId;
}

/** Has a bill, or a part of it, planned off-cycle under a playbook. */
async function offCycle(payrun: TestPayrun, playbook: string, { id }: Bill, part: Json = {}) {
  const body = { payables: [id], playbook, ref: crypto.randomUUID(), ...part };
  const launched = await payrun.call<{ id: string }>("launcher", "POST", "/v1/off-cycle", body);
  expect(launched).toMatchObject({ status: 201 });
  await payrun.untilPhase(launched.body.id, "awaiting-approval");
  return launched.body.id;
}

/** Enters an approved bill of a new vendor, or of the one that is given. */
async function enter(
  payrun: TestPayrun,
  description: string,
  amountCents: number,
  bill: Json = {},
): Promise<Bill> {
  const { sandbox } = payrun;
  const contactId = bill["contactId"] ?? (await vendor(sandbox, `V ${crypto.randomUUID()}`));
  const dueDate = await bankDate(sandbox, 5);
  const terms = { description, dueDate, totalAmountCents: amountCents, ...bill, contactId };
  const { id } = await sandbox.control.createPayable(terms);
  return { id, amountCents, contactId: contactId as string };
}

const ACCOUNTS = ["4000111122", "4000333344", "4000555566"] as const;

/** Enters a vendor of this name with an account of its own. */
async function vendorWith(
  payrun: TestPayrun,
  name: string,
  accountNumber: string,
): Promise<string> {
  const contactId = await vendor(payrun.sandbox, name);
  const bankAccount = { accountNumber, routingNumber: "021000021" };
  await payrun.sandbox.control.changeContact(contactId, { bankAccount });
  return contactId;
}

async function approvedBy(
  payrun: TestPayrun,
  runId: string,
  ...people: readonly ("controller" | "owner")[]
): Promise<void> {
  for (const person of people) {
    expect(await payrun.decide(person, runId, "approve")).toMatchObject({ status: 200 });
  }
}

/** Returns what the service was asked to pay for each bill, in cents. */
function sent(payrun: TestPayrun, made: readonly Bill[]): Promise<number[][]> {
  return Promise.all(
    made.map(async (bill) => (await paymentsOf(payrun, bill)).map((each) => each.amountCents)),
  );
}

/** Waits until the sound bill is sent and nothing is decided about the others. */
async function untilOnlySent(
  payrun: TestPayrun,
  runId: string,
  sound: Bill,
  others: readonly Bill[],
): Promise<void> {
  await payrun.until(
    runId,
    "waiting for an approval of all but one",
    (run) =>
      lineOf(run, sound).state === "scheduled" &&
      others.every((bill) => lineOf(run, bill).state === "awaiting-approval"),
  );
  expect(await sent(payrun, [sound, ...others])).toEqual([
    [sound.amountCents],
    ...others.map(() => []),
  ]);
}

async function untilSent(payrun: TestPayrun, runId: string, made: readonly Bill[]): Promise<void> {
  await payrun.until(runId, "sent", (run) =>
    made.every((bill) => lineOf(run, bill).state === "scheduled"),
  );
}

/** Returns the flags of a bill's line, as `kind: text`. */
async function flagsOf(payrun: TestPayrun, runId: string, bill: Bill): Promise<string> {
  const { flags } = lineOf(await payrun.status(runId), bill);
  return flags.map(({ kind, text }) => `${kind}: ${text}`).join("\n");
}

test("a new vendor, a vendor's second record with another account, and an odd amount need two people", async ({
  payrun,
}) => {
  const { control } = payrun.sandbox;
  const acme = await vendorWith(payrun, "Acme Inc", ACCOUNTS[0]);
  const paid = await enter(payrun, "paid", 100_00, { contactId: acme });
  const before = await planned(payrun, "paid", { approve: ONE });
  await approvedBy(payrun, before, "controller");
  await untilSent(payrun, before, [paid]);
  // A payment proves its vendor's account two banking days after it has settled.
  await control.advance("P14D");
  await clockNoticed();
  const usual = await enter(payrun, "novel", 110_00, { contactId: acme });
  const odd = await enter(payrun, "novel", 400_00, { contactId: acme });
  const stranger = await enter(payrun, "novel", 120_00);
  const second = await vendorWith(payrun, "ACME, Inc.", ACCOUNTS[1]);
  const posing = await enter(payrun, "novel", 130_00, { contactId: second });
  const review = "[new-vendor, changed-bank-account, likely-duplicate, unusual-amount]";
  const runId = await planned(payrun, "novel", { review, approve: [...REVIEW, ...ONE] });
  expect(await flagsOf(payrun, runId, odd)).toContain("unusual-amount: ");
  for (const bill of [stranger, posing]) {
    expect(await flagsOf(payrun, runId, bill)).toContain("new-vendor: ");
  }
  await approvedBy(payrun, runId, "controller");
  await untilOnlySent(payrun, runId, usual, [odd, stranger, posing]);
});

test("a bill that is edited, or whose vendor gets another account, between two approvals is paid only once both approve what it is now", async ({
  payrun,
}) => {
  const { control } = payrun.sandbox;
  const [edited, moved, sound] = [
    await enter(payrun, "edited", 100_00),
    await enter(payrun, "edited", 200_00),
    await enter(payrun, "edited", 300_00),
  ];
  const runId = await planned(payrun, "edited", {
    approve: ["{ by: [controller, owner], quorum: 2 }"],
  });
  await approvedBy(payrun, runId, "controller");
  await control.changePayable(edited.id, { totalAmountCents: 900_00 });
  const bankAccount = { accountNumber: ACCOUNTS[2], routingNumber: "021000021" };
  await control.changeContact(moved.contactId, { bankAccount });
  await approvedBy(payrun, runId, "owner");
  await untilOnlySent(payrun, runId, sound, [edited, moved]);
  await approvedBy(payrun, runId, "controller", "owner");
  await untilSent(payrun, runId, [edited, moved]);
  expect(await sent(payrun, [edited, moved])).toEqual([[900_00], [200_00]]);
});

test("an invoice that is entered again with a cent more, for a vendor's second record, or for another vendor with its account needs two people", async ({
  payrun,
}) => {
  const acme = await vendorWith(payrun, "Birch Supply Inc", "5000111177");
  const second = await vendorWith(payrun, "BIRCH SUPPLY, Inc.", "5000222288");
  const other = await vendorWith(payrun, "Cedar", "5000331177");
  const bill = { customNumber: "INV-1001", contactId: acme };
  const first = await enter(payrun, "first", 500_00, bill);
  const paying = await planned(payrun, "first", { approve: ONE });
  await approvedBy(payrun, paying, "controller");
  await untilSent(payrun, paying, [first]);
  const again = [
    await enter(payrun, "again", 500_01, { customNumber: "inv 01001", contactId: acme }),
    await enter(payrun, "again", 500_00, { customNumber: "INV1001", contactId: second }),
    await enter(payrun, "again", 500_00, { customNumber: "INV-1001", contactId: other }),
  ];
  const sound = await enter(payrun, "again", 600_00, { customNumber: "INV-1002" });
  const review = "[likely-duplicate]";
  const runId = await planned(payrun, "again", { review, approve: [...REVIEW, ...ONE] });
  for (const each of again) {
    expect(await flagsOf(payrun, runId, each)).toContain("likely-duplicate: Same ");
  }
  await approvedBy(payrun, runId, "controller");
  await untilOnlySent(payrun, runId, sound, again);
});

test("a part of a bill above an amount needs the owner, as the whole bill does", async ({
  payrun,
}) => {
  await store(payrun, "parts", { approve: OWNER_ABOVE("$250") });
  const large = await enter(payrun, "parts", 720_00);
  const runId = await offCycle(payrun, "parts", large, { amountCents: 240_00 });
  const refused = await payrun.decide("controller", runId, "approve");
  expect(refused.body).toMatchObject({ error: "role_missing" });
  expect(await sent(payrun, [large])).toEqual([[]]);
  await approvedBy(payrun, runId, "owner");
  await untilSent(payrun, runId, [large]);
  expect(await sent(payrun, [large])).toEqual([[240_00]]);
});

test("bills of one vendor that pass an amount only together need the approval above it, in one run, and in runs of several playbooks that pay at the same moment", async ({
  payrun,
}) => {
  const together = async (name: string, amounts: readonly number[]): Promise<Bill[]> => {
    const contactId = await vendorWith(payrun, name, ACCOUNTS[0]);
    return Promise.all(amounts.map((cents) => enter(payrun, name, cents, { contactId })));
  };
  const split = await together("split", [245_00, 245_00, 245_00]);
  const sound = await enter(payrun, "split", 240_00);
  const approve = OWNER_ABOVE("{ amount: $250, per: vendor }");
  const ofRun = await planned(payrun, "split", { approve });
  await approvedBy(payrun, ofRun, "controller");
  await untilOnlySent(payrun, ofRun, sound, split);

  const ofVendorWeek = { approve: OWNER_ABOVE("{ amount: $250, per: vendor-week }") };
  const playbooks = ["week", "week-too"];
  for (const each of playbooks) await store(payrun, each, ofVendorWeek, "week");
  const ofWeek = await together("week", [120_00, 120_00, 120_00]);
  const runs = await Promise.all(
    ofWeek.map((bill, no) => offCycle(payrun, playbooks[no % 2] ?? "", bill)),
  );
  const hold = { contactId: ofWeek[0]?.contactId, reason: "all at once" };
  const { body } = await payrun.call<{ id: string }>("operator", "POST", "/v1/holds", hold);
  for (const runId of runs) await approvedBy(payrun, runId, "controller");
  await payrun.call("operator", "DELETE", `/v1/holds/${body.id}`);
  const states = async (): Promise<string[]> => {
    const all = await Promise.all(runs.map((runId) => payrun.status(runId)));
    return all.flatMap(({ payments }) => payments.map(({ state }) => state)).toSorted();
  };
  await expect.poll(states).toEqual(["awaiting-approval", "scheduled", "scheduled"]);
  expect((await sent(payrun, ofWeek)).flat()).toEqual([120_00, 120_00]);
});

test("no playbook pays more than the business's limits, neither one that is stored later nor one that was approved before they were set", async ({
  payrun,
}) => {
  const contactId = await vendorWith(payrun, "Lax", ACCOUNTS[1]);
  const lax = { approve: ONE, more: ["limits: { vendorPerWeek: $100k }"] };
  await store(payrun, "lax", lax);
  const made = [
    await enter(payrun, "lax", 20_000_00, { contactId }),
    await enter(payrun, "lax", 20_000_00, { contactId }),
  ];
  const runs: string[] = [];
  for (const bill of made) runs.push(await offCycle(payrun, "lax", bill));
  const hold = { contactId, reason: "not yet" };
  const { body } = await payrun.call<{ id: string }>("operator", "POST", "/v1/holds", hold);
  for (const runId of runs) await approvedBy(payrun, runId, "controller");
  await payrun.writeProfile({ limits: { vendorPerWeek: "$30k" } });
  await expect(store(payrun, "laxer", lax)).rejects.toThrow("can only be stricter");
  await payrun.call("operator", "DELETE", `/v1/holds/${body.id}`);
  const states = async (): Promise<string[]> => {
    const all = await Promise.all(runs.map((runId) => payrun.status(runId)));
    return all.flatMap(({ payments }) => payments.map(({ state }) => state)).toSorted();
  };
  await expect.poll(states).toEqual(["parked", "scheduled"]);
  expect((await sent(payrun, made)).flat()).toEqual([20_000_00]);
});

test("a bill that one approver rejected is paid by no other approver alone, and whoever rejected it hears that it is asked about again", async ({
  payrun,
}) => {
  const rejected = await enter(payrun, "fraud", 150_00);
  const first = await planned(payrun, "fraud", { approve: ONE });
  await payrun.decide("controller", first, "reject", { comment: "FRAUD" });
  await payrun.untilPhase(first, "rejected");
  const sound = await enter(payrun, "fraud", 160_00);
  const runId = await planned(payrun, "again-please", { approve: [...REVIEW, ...ONE] }, "fraud");
  expect(await flagsOf(payrun, runId, rejected)).toMatch(
    /^rejected-before: Rejected by controller on .*“FRAUD”/,
  );
  const { body } = await payrun.call<{ items: { runId: string; text: string }[] }>(
    "operator",
    "GET",
    "/v1/notices?kind=asked-again",
  );
  expect(body.items).toMatchObject([{ runId, text: expect.stringContaining("launched by") }]);
  await approvedBy(payrun, runId, "owner");
  await untilOnlySent(payrun, runId, sound, [rejected]);
  await approvedBy(payrun, runId, "controller");
  await untilSent(payrun, runId, [rejected]);
  expect(await sent(payrun, [rejected])).toEqual([[150_00]]);
});

test("an approval seconds after the plan, or at odd hours, pays nothing without another person, if the playbook says so", async ({
  payrun,
}) => {
  const { bank } = await payrun.sandbox.control.clock();
  const hour = (after: number): string =>
    zonedWallTime(Date.parse(bank) + after * 3_600_000, NEW_YORK).slice(0, 2);
  for (const [name, hurry] of [
    ["soon", "{ under: 60 minutes, then: another }"],
    ["odd-hours", `{ outside: "${hour(2)}:00-${hour(4)}:00", then: another }`],
  ] as const) {
    const bill = await enter(payrun, name, 170_00);
    const runId = await planned(payrun, name, { approve: ONE, hurry });
    const { body } = await payrun.decide("controller", runId, "approve");
    expect(body).toMatchObject({
      goesOut: { count: 0 },
      missing: [{ quorum: 2, approvals: 1 }],
    });
    expect(await sent(payrun, [bill])).toEqual([[]]);
    const notices = await payrun.call("operator", "GET", "/v1/notices?kind=hurried-approval");
    expect(JSON.stringify(notices.body)).toContain(runId);
    await approvedBy(payrun, runId, "owner");
    await untilSent(payrun, runId, [bill]);
    expect(await sent(payrun, [bill])).toEqual([[170_00]]);
  }
});

test("an absent approver whose token somebody else uses gets a mail about the address from which it is used", async ({
  payrun,
}) => {
  const smtp = await smtpReceiver();
  const people = { owner: "olga@acme.example" };
  await payrun.writeProfile({
    notify: { smtp: { url: smtp.url, from: "p@acme.example" }, people },
  });
  const headers = { authorization: `Bearer ${payrun.tokenOf("owner")}` };
  const use = { localAddress: "127.0.0.77", headers };
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const request = get(`${payrun.gatewayUrl}/v1/runs`, use, (response) => {
      response.resume().on("end", () => resolve(response.statusCode));
    });
    request.on("error", reject);
  });
  expect(status).toBe(200);
  const told = await until(
    () => smtp.mails.filter(({ source }) => source.includes("127.0.0.77")),
    ({ length }) => length > 0,
  );
  expect(told.map(({ to }) => to)).toEqual([["olga@acme.example"]]);
});

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { DecisionBody } from "../../src/api/schemas.ts";
import { insertEvents, type NewInboxEvent } from "../../src/store/events/inbox.ts";
import { profile, startTestGateway } from "./support/gateway.ts";
import { makeSigner, signDecision } from "../support/signing.ts";
import { planLine, seedRun, setLine } from "./support/rows.ts";
import { typed } from "./support/typed.ts";

/** Starts a service whose vendors are as they were planned, except for `others`. */
async function serviceWith(
  others: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): Promise<{ readonly apiUrl: string; readonly askedFor: ReadonlySet<string> }> {
  const askedFor = new Set<string>();
  const service = createServer(({ url = "" }, response) => {
    const id = url.split("/").at(-1) ?? "";
    if (!url.includes("/contacts/")) return answer(response, billOrList(url, id, others[id]));
    askedFor.add(id);
    const planned = { bankAccount: { last4: "6789" }, paymentReady: true, updatedAt: null };
    const contact = { id, type: "payee", status: "active", ...planned, ...others[id] };
    answer(response, contact);
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void service.close());
  return { apiUrl: `http://127.0.0.1:${(service.address() as AddressInfo).port}`, askedFor };
}

function answer(response: ServerResponse, body: unknown): void {
  const status = body === undefined ? 404 : 200;
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(JSON.stringify(body ?? {}));
}

/** Returns an unpaid bill of $100, changed as `other` says; an empty list for payments. */
function billOrList(url: string, id: string, other: object | undefined): unknown {
  if (url.includes("/payments")) return { items: [], totalCount: 0 };
  if (!url.includes("/payables/")) return undefined;
  return {
    ...{ id, publicId: `BILL-${id}`, status: "approved", paymentStatus: "none" },
    ...{ totalAmountCents: 10_000, amountPaidCents: 0, remainingAmountCents: 10_000 },
    ...{ dueDate: null, issueDate: null, customNumber: null, description: null, items: [] },
    ...{ contact: { id: `con_${id}`, displayName: null } },
    ...other,
  };
}

/** Returns an event that the service has sent since the plan. */
function concerns(objectId: string, object = "payable"): NewInboxEvent {
  return {
    ...{ businessId: "biz_acme", eventId: `evt_${objectId}`, sequence: "1", body: "{}" },
    ...{ type: `${object}.updated`, object, objectId, via: "webhook" },
    ...{ createdAt: new Date().toISOString(), receivedAtMs: Date.now() + 1_000 },
  };
}

test("an approval doesn't count bills as going out whose vendor's bank account has changed", async () => {
  const { apiUrl } = await serviceWith({
    con_p1: { displayName: "Osprey Robotics", bankAccount: null, paymentReady: false },
    con_p2: { bankAccount: { last4: "4417" } },
  });
  const gateway = await startTestGateway({ profiles: [profile({ apiUrl })] });
  onTestFinished(() => gateway.stop());
  await seedRun(gateway.store, { lines: [planLine("p1"), planLine("p2"), planLine("p3")] });
  const token = await gateway.token("cora", ["controller"]);
  const { stdout } = await typed(gateway, token, ["approve", "weekly", "--yes"]);
  expect(stdout).toContain("1 bill, $100.00, goes out.");
  expect(stdout).toMatch(
    /1 bill, \$100\.00, doesn't go out\. Osprey Robotics can't be paid by ACH/,
  );
  expect(stdout).toMatch(
    /\. Vendor of p2: .* changed from ••6789 to ••4417 since the plan was made/,
  );
  const again = await typed(gateway, token, ["approve", "weekly", "--yes", "--json"]);
  expect(DecisionBody.parse(again.json())).toMatchObject({
    goesOut: { count: 1 },
    notSent: [
      { contactId: "con_p1", count: 1 },
      { contactId: "con_p2", count: 1 },
    ],
  });
});

test("a signed decision causes reads of vendors only if its signature is valid and it approves bills", async () => {
  const { apiUrl, askedFor } = await serviceWith({ con_p1: { bankAccount: null } });
  const erp = makeSigner("erp", ["controller"]);
  const { keyId, name, roles, publicKey } = erp;
  const gateway = await startTestGateway({
    profiles: [profile({ apiUrl, signers: [{ keyId, name, roles, publicKey }] })],
  });
  onTestFinished(() => gateway.stop());
  const run = await seedRun(gateway.store, { lines: [planLine("p1"), planLine("p2")] });
  const courier = await gateway.token("cour", ["operator"]);
  const send = (signed: string) =>
    gateway.call("POST", `/v1/runs/${encodeURIComponent(run.runId)}/decisions`, courier, {
      signed,
    });
  const claims = { sub: run.runId, planHash: run.planHash };

  const forged = signDecision({ ...makeSigner("erp", ["controller"]), keyId }, claims);
  expect((await send(forged)).status).toBe(403);
  expect([...askedFor]).toEqual([]);

  expect(await send(signDecision(erp, claims))).toMatchObject({
    status: 200,
    json: { goesOut: { count: 1 }, notSent: [{ contactId: "con_p1", count: 1 }] },
  });
  expect([...askedFor].toSorted()).toEqual(["con_p1", "con_p2"]);
});

test("show, approvals and releases don't count bills as going out that changed since the plan", async () => {
  const { apiUrl } = await serviceWith({
    p1: { amountPaidCents: 10_000, status: "paid" },
    con_p2: { bankAccount: { last4: "4417" } },
  });
  const gateway = await startTestGateway({ profiles: [profile({ apiUrl })] });
  onTestFinished(() => gateway.stop());
  const { store } = gateway;
  const bills = ["p1", "p2", "p3"];
  const { runId } = await seedRun(store, { lines: bills.map((id) => planLine(id)) });
  const [cora, olga] = [
    await gateway.token("cora", ["controller"]),
    await gateway.token("olga", ["operator"]),
  ];
  await insertEvents(store.db, [concerns("p1"), concerns("con_p2", "contact")]);
  const paid = /1 bill, \$100\.00, doesn't go out\. Vendor of p1 BILL-p1: Nothing is owed any more/;
  const changed = /1 bill, \$100\.00, doesn't go out\. Vendor of p2: .* to ••4417 since the plan/;

  const { stdout: shown } = await typed(gateway, cora, ["show", "weekly"]);
  expect(shown.replaceAll(/\s+/g, " ")).toMatch(/Your approval lets 1 bill, \$100\.00, go out/);
  expect(shown.replaceAll(/\s+/g, " ")).toMatch(paid);
  expect(shown.replaceAll(/\s+/g, " ")).toMatch(changed);

  await typed(gateway, olga, ["hold", "--all", "--reason", "a look"]);
  const approved = await typed(gateway, cora, ["approve", "weekly", "--yes"]);
  expect(approved.stdout).toContain("3 bills, $300.00, stay on hold");
  for (const bill of bills) await setLine(store, runId, bill, { state: "on-hold" });
  const { stdout: released } = await typed(gateway, olga, [
    ...["release", "--all", "--by", "olga", "--yes"],
  ]);
  expect(released).toMatch(/1 bill, \$100\.00, goes out now/);
  expect(released).toMatch(paid);
  expect(released).toMatch(changed);
});

test("an approval names bills that now have another vendor, and paid ones whose vendor can't be read", async () => {
  const { apiUrl } = await serviceWith({
    p1: { contact: { id: "con_other", displayName: null } },
    p2: { amountPaidCents: 10_000, status: "paid" },
    con_p2: { status: 7 },
  });
  const gateway = await startTestGateway({ profiles: [profile({ apiUrl })] });
  onTestFinished(() => gateway.stop());
  await seedRun(gateway.store, { lines: ["p1", "p2", "p3"].map((id) => planLine(id)) });
  await insertEvents(gateway.store.db, [concerns("p1"), concerns("p2")]);
  const token = await gateway.token("cora", ["controller"]);
  const { stdout } = await typed(gateway, token, ["approve", "weekly", "--yes"]);
  expect(stdout).toContain("1 bill, $100.00, goes out.");
  expect(stdout).toContain("Vendor of p1 BILL-p1: the bill belongs to another vendor now");
  expect(stdout).toContain("Vendor of p2 BILL-p2: Nothing is owed any more");
});

import { expect } from "vitest";
import type { ApiAnswer, Json, TestSandbox } from "../support/sandbox.ts";
import { sandboxTest } from "./sandbox-test.ts";
import {
  bankDetails,
  defaultBank,
  fromBalance,
  makeBill,
  makeVendor,
  newYorkDay,
  pay,
} from "./world.ts";

const it = sandboxTest("blank");

interface Request {
  method?: string;
  path: string;
  body?: Json;
  /** Reads state that shows how often the request has taken effect. */
  effects: () => Promise<unknown>;
}

async function totalOf(sandbox: TestSandbox, path: string): Promise<unknown> {
  return (await sandbox.api("GET", path)).body["totalCount"];
}

async function makeEndpoint(sandbox: TestSandbox): Promise<string> {
  const body = { url: "http://127.0.0.1:9/hook" };
  const answer = await sandbox.api<{ id: string }>("POST", "/v1/webhook-endpoints", { body });
  return answer.body.id;
}

async function failedBill(sandbox: TestSandbox): Promise<string> {
  const payableId = await makeBill(sandbox);
  await sandbox.control.outcome({ match: { payableId }, outcome: "fail", code: "R01", times: 1 });
  await pay(sandbox, { payableId });
  await sandbox.control.advance("P7D");
  return payableId;
}

const read = async (sandbox: TestSandbox, path: string) => (await sandbox.api("GET", path)).text;

async function makeInvoice(sandbox: TestSandbox, isSent: boolean): Promise<string> {
  const customerId = await makeVendor(sandbox);
  const items = [{ name: "Paper", quantity: 1, unitAmountCents: 500 }];
  const answer = await sandbox.api("POST", "/v1/invoices", { body: { customerId, items } });
  const path = `/v1/invoices/${String(answer.body["id"])}`;
  if (isSent) await sandbox.api("POST", `${path}/send`);
  return path;
}

/** Prepares a sandbox for a request, and returns it. */
type Maker = (sandbox: TestSandbox) => Promise<Request>;

function onInvoice(action: string): Maker {
  return async (sandbox) => {
    const path = await makeInvoice(sandbox, action !== "send");
    return { path: `${path}/${action}`, effects: () => read(sandbox, path) };
  };
}

function transfer(kind: "deposits" | "withdrawals"): Maker {
  return async (sandbox) => {
    const body = { amountCents: 10, bankAccountId: await defaultBank(sandbox) };
    const effects = () => totalOf(sandbox, "/v1/balance/transactions");
    return { path: `/v1/balance/${kind}`, body, effects };
  };
}

const requests: Readonly<Record<string, Maker>> = {
  "a deposit": transfer("deposits"),
  "a withdrawal": transfer("withdrawals"),
  "a sent invoice": onInvoice("send"),
  "a voided invoice": onInvoice("void"),
  "an invoice marked paid": onInvoice("mark-paid"),
  "a payment link": onInvoice("payment-link"),
  "a new bank account": (sandbox) =>
    Promise.resolve({
      path: "/v1/bank-accounts",
      body: { accountNumber: "000123456789", routingNumber: "021000021", type: "checking" },
      effects: () => read(sandbox, "/v1/bank-accounts"),
    }),
  "a payment": async (sandbox) => {
    const payableId = await makeBill(sandbox);
    const body = { payableId, amountCents: 10, ...fromBalance };
    return { path: "/v1/payments", body, effects: () => totalOf(sandbox, "/v1/payments") };
  },
  "a payment to a contact": async (sandbox) => {
    const contactId = await makeVendor(sandbox);
    const body = { contactId, amountCents: 10, ...fromBalance };
    return { path: "/v1/payments", body, effects: () => totalOf(sandbox, "/v1/payables") };
  },
  "a cancel": async (sandbox) => {
    const payableId = await makeBill(sandbox);
    const scheduledAt = await newYorkDay(sandbox, 5);
    const { body } = await pay(sandbox, { payableId, scheduledAt });
    const path = `/v1/payments/${body.payments[0]?.id}/cancel`;
    return { path, effects: () => read(sandbox, `/v1/payments?payableId=${payableId}`) };
  },
  "a retry": async (sandbox) => {
    const payableId = await failedBill(sandbox);
    const path = `/v1/payables/${payableId}/retry-payment`;
    return { path, effects: () => totalOf(sandbox, `/v1/payments?payableId=${payableId}`) };
  },
  "a new bill": (sandbox) =>
    Promise.resolve({
      path: "/v1/payables",
      body: { totalAmountCents: 5 },
      effects: () => totalOf(sandbox, "/v1/payables"),
    }),
  "a submit": async (sandbox) => {
    const contactId = await makeVendor(sandbox);
    const body = { contactId, totalAmountCents: 5 };
    const { id } = (await sandbox.api("POST", "/v1/payables", { body })).body;
    const path = `/v1/payables/${String(id)}`;
    return { path: `${path}/submit`, effects: () => read(sandbox, path) };
  },
  "a new contact": (sandbox) =>
    Promise.resolve({
      path: "/v1/contacts",
      body: { displayName: "Acme", allowDuplicates: true, bankAccount: bankDetails },
      effects: () => totalOf(sandbox, "/v1/contacts"),
    }),
  "a changed contact": async (sandbox) => {
    const path = `/v1/contacts/${await makeVendor(sandbox)}`;
    return { method: "PATCH", path, body: { netTerms: 30 }, effects: () => read(sandbox, path) };
  },
  "an archived contact": async (sandbox) => {
    const path = `/v1/contacts/${await makeVendor(sandbox)}`;
    return { path: `${path}/archive`, effects: () => read(sandbox, path) };
  },
  "a restored contact": async (sandbox) => {
    const path = `/v1/contacts/${await makeVendor(sandbox)}`;
    await sandbox.api("POST", `${path}/archive`);
    return { path: `${path}/unarchive`, effects: () => read(sandbox, path) };
  },
  "a changed webhook endpoint": async (sandbox) => {
    const path = `/v1/webhook-endpoints/${await makeEndpoint(sandbox)}`;
    return {
      method: "PATCH",
      path,
      body: { description: "x" },
      effects: () => read(sandbox, path),
    };
  },
  "a deleted webhook endpoint": async (sandbox) => {
    const path = `/v1/webhook-endpoints/${await makeEndpoint(sandbox)}`;
    return { method: "DELETE", path, effects: () => read(sandbox, "/v1/webhook-endpoints") };
  },
  "a redelivery": async (sandbox) => {
    const path = `/v1/webhook-endpoints/${await makeEndpoint(sandbox)}/deliveries`;
    await makeVendor(sandbox);
    const { items } = (await sandbox.api<{ items: { id: string }[] }>("GET", path)).body;
    return { path: `${path}/${items[0]?.id}/redeliver`, effects: () => totalOf(sandbox, path) };
  },
};

function sendWith(
  sandbox: TestSandbox,
  key: string,
  { method = "POST", path, body }: Request,
): Promise<ApiAnswer> {
  return sandbox.api(method, path, { key, ...(body !== undefined && { body }) });
}

function expectReplay(again: ApiAnswer, first: ApiAnswer): void {
  expect([again.status, again.text]).toEqual([first.status, first.text]);
  for (const header of ["content-type", "content-length"]) {
    expect(again.headers.get(header)).toBe(first.headers.get(header));
  }
}

it.for(Object.entries(requests))(
  "%s that is sent twice gets the same response and takes effect once",
  async ([name, make], { sandbox }) => {
    const request = await make(sandbox);
    const first = await sendWith(sandbox, name, request);
    expect(first.status).toBeLessThan(300);
    const after = await request.effects();
    expectReplay(await sendWith(sandbox, name, request), first);
    expect(await request.effects()).toBe(after);
  },
);

it("every kind of write is replayed after the sandbox was killed", async ({ sandbox }) => {
  const sent: { key: string; request: Request; first: ApiAnswer }[] = [];
  for (const [key, make] of Object.entries(requests)) {
    const request = await make(sandbox);
    sent.push({ key, request, first: await sendWith(sandbox, key, request) });
  }
  await sandbox.restart("SIGKILL");
  for (const { key, request, first } of sent)
    expectReplay(await sendWith(sandbox, key, request), first);
});

it("a sandbox that is killed under load keeps one response and one effect per key", async ({
  sandbox,
}) => {
  const bills = await Promise.all(
    Array.from({ length: 60 }, () => makeBill(sandbox, { totalAmountCents: 1_000 })),
  );
  const acknowledged = new Map<string, string>();
  const unanswered = new Set(bills);
  const lanes = Array.from({ length: 12 }, async (_, lane) => {
    for (let at = lane; at < bills.length; at += 12) {
      const payableId = bills[at] ?? "";
      const answer = await pay(sandbox, { payableId }, payableId).catch(() => undefined);
      if (answer?.status !== 201) return;
      acknowledged.set(payableId, answer.text);
      unanswered.delete(payableId);
    }
  });
  await expect.poll(() => acknowledged.size, { interval: 1 }).toBeGreaterThan(20);
  await sandbox.restart("SIGKILL");
  await Promise.all(lanes);
  for (const [payableId, text] of acknowledged) {
    expect((await pay(sandbox, { payableId }, payableId)).text).toBe(text);
  }
  await sandbox.control.advanceWire("PT5M");
  for (const payableId of unanswered) {
    const { status, body } = await pay(sandbox, { payableId }, payableId);
    if (status !== 201) expect(body["error"]).toBe("payment_unconfirmed");
  }
  for (const payableId of bills) {
    expect(await totalOf(sandbox, `/v1/payments?payableId=${payableId}`)).toBeLessThanOrEqual(1);
  }
  await sandbox.control.advance("P7D");
  expect(await sandbox.control.health()).toMatchObject({ ok: true });
});

import { expect } from "vitest";
import type { Json, TestSandbox } from "../../support/sandbox.ts";
import { sandboxTest } from "../sandbox-test.ts";
import { WebhookApi } from "../webhooks/receiver.ts";
import { makeBill, unique } from "../world.ts";
import { type BankAccount, controlPost, link, numbers, readAccount } from "./accounts.ts";

const it = sandboxTest("blank");

const create = (sandbox: TestSandbox, body: unknown, key?: string) =>
  sandbox.api("POST", "/v1/bank-accounts", { body, ...(key !== undefined && { key }) });

async function list(sandbox: TestSandbox): Promise<BankAccount[]> {
  return (await sandbox.api<{ items: BankAccount[] }>("GET", "/v1/bank-accounts")).body.items;
}

it("a linked account is pending and shows only the last four digits of its numbers", async ({
  sandbox,
  receiver,
  hooks,
}) => {
  await hooks.create(receiver.url);
  const answer = await create(sandbox, { ...numbers, type: "savings", name: "Reserve" });
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({
    id: expect.any(String),
    status: "pending_verification",
    type: "savings",
    connectionType: "manual",
    name: "Reserve",
    institutionName: null,
    accountNumberLast4: "6789",
    routingNumberLast4: "0021",
    isDefault: false,
    microDepositsInitiatedAt: expect.any(String),
    microDepositsCompletedAt: null,
    verificationAttempts: 0,
  });
  expect(answer.text).not.toContain(numbers.accountNumber);
  expect(answer.text).not.toContain(numbers.routingNumber);
  expect(await list(sandbox)).toContainEqual(answer.body);
  expect(await readAccount(sandbox, String(answer.body["id"]))).toEqual(answer.body);
  const [received] = await receiver.until(1);
  expect(received?.event).toMatchObject({
    type: "bank_account.created",
    data: { object: "bank_account", id: answer.body["id"] },
  });
});

it("an account's type is checking by default, and can be given under either of two names", async ({
  sandbox,
}) => {
  expect((await create(sandbox, numbers)).body).toMatchObject({ type: "checking" });
  const other = { ...numbers, accountNumber: "1234", accountType: "savings" };
  expect((await create(sandbox, other)).body).toMatchObject({ type: "savings" });
  const both = await create(sandbox, { ...numbers, type: "checking", accountType: "savings" });
  expect(both.status).toBe(400);
});

it.for<[string, object, number, string?]>([
  ["no account number", { routingNumber: numbers.routingNumber }, 400, "accountNumber"],
  ["no routing number", { accountNumber: "12345" }, 400, "routingNumber"],
  ["a routing number with a wrong check digit", { ...numbers, routingNumber: "021000022" }, 422],
  ["a routing number of eight digits", { ...numbers, routingNumber: "02100002" }, 422],
  ["letters in the account number", { ...numbers, accountNumber: "12a45" }, 422, "accountNumber"],
  ["an account number of 18 digits", { ...numbers, accountNumber: "1".repeat(18) }, 422],
  ["another type", { ...numbers, type: "brokerage" }, 422, "type"],
  ["a number as account number", { ...numbers, accountNumber: 12_345 }, 400, "accountNumber"],
])(
  "linking an account with %s is refused",
  async ([_, body, status, field = "routingNumber"], { sandbox }) => {
    const answer = await create(sandbox, body);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ error: "validation_error" });
    const named = field === "routingNumber" && "accountNumber" in body ? fieldOf(body) : field;
    expect(answer.body["message"]).toContain(named);
    expect(await list(sandbox)).toHaveLength(1);
  },
);

function fieldOf(body: Json): string {
  return String(body["accountNumber"]).length > 17 ? "accountNumber" : "routingNumber";
}

it("an account can be linked only once, until it is removed", async ({ sandbox }) => {
  const { id } = await link(sandbox);
  const twin = await create(sandbox, numbers);
  expect(twin.status).toBe(409);
  expect(twin.body).toMatchObject({ error: "bank_account_exists", details: { bankAccountId: id } });
  await controlPost(sandbox, `/bank-accounts/${id}`, { status: "removed" });
  expect((await create(sandbox, numbers)).status).toBe(201);
});

it("linking an account is replayed under its key", async ({ sandbox }) => {
  const first = await create(sandbox, numbers, "key");
  expect((await create(sandbox, numbers, "key")).text).toBe(first.text);
  expect(await list(sandbox)).toHaveLength(2);
});

it("the first verified account becomes the default, and hands that on when it is removed", async ({
  sandbox,
}) => {
  await sandbox.control.reset({ businesses: [{ name: "New" }] });
  const first = await link(sandbox);
  const second = await link(sandbox, { accountNumber: "987654321" });
  expect([first.isDefault, second.isDefault]).toEqual([false, false]);
  const by = (id: string, body: Json) => controlPost(sandbox, `/bank-accounts/${id}`, body);
  const defaults = async () => (await list(sandbox)).filter((a) => a.isDefault).map(({ id }) => id);
  await by(second.id, { status: "verified" });
  expect(await defaults()).toEqual([second.id]);
  await by(first.id, { status: "verified" });
  expect(await defaults()).toEqual([second.id]);
  await by(second.id, { status: "removed" });
  expect(await defaults()).toEqual([first.id]);
  const third = await link(sandbox, { accountNumber: "5555" });
  await expect(by(third.id, { isDefault: true })).rejects.toThrow("not verified");
  await by(third.id, { status: "verified", isDefault: true });
  expect(await defaults()).toEqual([third.id]);
});

it("an account that is removed by hand stays listed, sends one event and can't pay", async ({
  sandbox,
  receiver,
}) => {
  await new WebhookApi(sandbox).create(receiver.url);
  const [account] = await list(sandbox);
  const id = account?.id ?? "";
  await controlPost(sandbox, `/bank-accounts/${id}`, { status: "removed" });
  expect(await list(sandbox)).toMatchObject([{ id, status: "removed", isDefault: false }]);
  const { body } = await sandbox.api<{ items: Json[] }>("GET", "/v1/funding-sources");
  expect(body.items.map((source) => source["id"])).not.toContain(id);
  await receiver.until(1);
  expect(receiver.received.map(({ event }) => event.type)).toEqual(["bank_account.removed"]);
  await controlPost(sandbox, `/bank-accounts/${id}`, { status: "removed" });
  expect(receiver.received).toHaveLength(1);
});

it("another organization's bank account returns 404", async ({ sandbox }) => {
  await sandbox.control.reset("two-businesses");
  const token = sandbox.businesses[1]?.token ?? "";
  const { id } = await link(sandbox);
  expect((await sandbox.api("GET", `/v1/bank-accounts/${id}`, { token })).status).toBe(404);
  const verify = `/v1/bank-accounts/${id}/verify-micro-deposits`;
  const body = { amountsCents: [1, 2] };
  expect((await sandbox.api("POST", verify, { token, body })).status).toBe(404);
  const same = await sandbox.api("POST", "/v1/bank-accounts", { token, body: numbers });
  expect(same.status).toBe(201);
});

it("linking needs bank-accounts:write, and listing bank-accounts:read", async ({ sandbox }) => {
  const token = await sandbox.control.token(undefined, { scopes: ["bank-accounts:read"] });
  expect((await sandbox.api("GET", "/v1/bank-accounts", { token })).status).toBe(200);
  const refused = await sandbox.api("POST", "/v1/bank-accounts", { token, body: numbers });
  expect(refused.status).toBe(403);
});

it("an invalid change of a bank account by hand is refused", async ({ sandbox }) => {
  await expect(controlPost(sandbox, "/bank-accounts/ba_none", {})).rejects.toThrow("404");
  const [account] = await list(sandbox);
  const path = `/bank-accounts/${account?.id}`;
  await expect(controlPost(sandbox, path, { status: "closed" })).rejects.toThrow("422");
  await expect(controlPost(sandbox, path, { state: "removed" })).rejects.toThrow("400");
  const none = await fetch(`${sandbox.url}/sandbox/micro-deposits/${account?.id}`);
  expect(none.status).toBe(404);
});

it("an account whose bank wants a new sign-in can't pay until the sign-in is done", async ({
  sandbox,
}) => {
  const [account] = await list(sandbox);
  const id = account?.id ?? "";
  const payFrom = async () => {
    const body = { payableId: await makeBill(sandbox), bankAccountId: id };
    return sandbox.api("POST", "/v1/payments", { body, key: unique("reauth") });
  };
  const sourceOf = async () => {
    const { body } = await sandbox.api<{ items: Json[] }>("GET", "/v1/funding-sources");
    return body.items.find((source) => source["id"] === id);
  };
  await controlPost(sandbox, `/bank-accounts/${id}`, { needsReauth: true });
  const actionUrl = expect.stringContaining(`/bank-accounts/${id}/sign-in`);
  expect(await sourceOf()).toMatchObject({
    canPay: false,
    unavailableReason: "bank_reauth",
    actionUrl,
  });
  expect(await payFrom()).toMatchObject({
    status: 409,
    body: { error: "setup_required", details: { actionUrl } },
  });
  await controlPost(sandbox, `/bank-accounts/${id}`, { needsReauth: false });
  expect(await sourceOf()).toMatchObject({ canPay: true, unavailableReason: null });
  expect((await payFrom()).status).toBe(201);
});

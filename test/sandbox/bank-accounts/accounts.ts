import type { Json, TestSandbox } from "../../support/sandbox.ts";

export interface BankAccount {
  id: string;
  status: string;
  type: string;
  name: string | null;
  isDefault: boolean;
  microDepositsInitiatedAt: string | null;
  microDepositsCompletedAt: string | null;
  verificationAttempts: number;
}

export const numbers = { accountNumber: "000123456789", routingNumber: "021000021" };

/** Links a bank account; each account number is another account. */
export async function link(sandbox: TestSandbox, fields: Json = {}): Promise<BankAccount> {
  const answer = await sandbox.api<BankAccount>("POST", "/v1/bank-accounts", {
    body: { ...numbers, ...fields },
  });
  if (answer.status !== 201) throw new Error(`no bank account: ${answer.text}`);
  return answer.body;
}

export async function readAccount(sandbox: TestSandbox, id: string): Promise<BankAccount> {
  return (await sandbox.api<BankAccount>("GET", `/v1/bank-accounts/${id}`)).body;
}

/** Returns an account's micro-deposits in cents, the smaller first, as its statement shows them. */
export async function microDeposits(sandbox: TestSandbox, id: string): Promise<[number, number]> {
  const response = await fetch(`${sandbox.url}/sandbox/micro-deposits/${id}`);
  const { amountsCents } = (await response.json()) as { amountsCents: [number, number] };
  return amountsCents;
}

/** Makes a change through the control API. @throws if it is refused. */
export async function controlPost<Body = Json>(
  sandbox: TestSandbox,
  path: string,
  body: Json,
): Promise<Body> {
  const response = await fetch(`${sandbox.url}/sandbox${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Body;
}

import type { Json, TestSandbox } from "./sandbox.ts";

/** Returns the date that many days from the sandbox's bank clock now, as `YYYY-MM-DD`. */
export async function bankDate(sandbox: TestSandbox, days: number): Promise<string> {
  const { bank } = await sandbox.control.clock();
  return new Date(Date.parse(bank) + days * 86_400_000).toISOString().slice(0, 10);
}

/** Creates a vendor that can be paid by ACH, through the service's own API. */
export async function vendor(sandbox: TestSandbox, name: string): Promise<string> {
  const { status, body } = await sandbox.api<{ id: string }>("POST", "/v1/contacts", {
    body: {
      displayName: name,
      bankAccount: {
        accountNumber: "000123456789",
        routingNumber: "021000021",
        accountType: "checking",
      },
    },
  });
  if (status !== 201) throw new Error(`vendor ${name}: ${status} ${JSON.stringify(body)}`);
  return body.id;
}

export interface Bill {
  readonly id: string;
  readonly amountCents: number;
  readonly contactId: string;
}

/** Creates approved bills, each of a new vendor, due in a few days. */
export async function bills(
  sandbox: TestSandbox,
  amounts: readonly number[],
  more: Json = {},
): Promise<Bill[]> {
  const dueDate = await bankDate(sandbox, 5);
  const made: Bill[] = [];
  for (const [index, amountCents] of amounts.entries()) {
    const contactId = await vendor(
      sandbox,
      `Vendor ${index + 1} of ${dueDate} ${crypto.randomUUID()}`,
    );
    const bill = await sandbox.control.createPayable({
      contactId,
      totalAmountCents: amountCents,
      dueDate,
      ...more,
    });
    made.push({ id: bill.id, amountCents, contactId });
  }
  return made;
}

/** A playbook that pays everything on one controller's approval. */
export const PAY_ALL = `kind: pay-run
select: { due: all }
pay: { on: next-business-day }
review: []
approve:
  - { by: [controller, owner] }
late: next-business-day
`;

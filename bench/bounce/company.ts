import { z } from "zod";

const made = z.object({ id: z.string() });

/** Bills of each vendor; a lane reads the bills of a vendor together. */
const BILLS_A_VENDOR = 10;
const IN_FLIGHT = 20;
const PAGE = 100;

const paymentPage = z.object({
  items: z.array(z.object({ payableId: z.string() })),
});

/** The company at the sandbox whose account bounces. */
export class Company {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** Creates approved bills described by `name`, due `dueIn` days from now. @returns their ids */
  async bills(name: string, count: number, dueIn: number): Promise<string[]> {
    const dueDate = await this.#date(dueIn);
    const vendors = await atOnce(Math.ceil(count / BILLS_A_VENDOR), (index) =>
      this.#vendor(`${name} ${index + 1}`),
    );
    return atOnce(count, async (index) => {
      const contactId = vendors[Math.floor(index / BILLS_A_VENDOR)];
      const bill = { contactId, totalAmountCents: 100_00 + index, dueDate, description: name };
      return made.parse(await this.#ask("POST", "/sandbox/payables", bill)).id;
    });
  }

  /** Schedules a payment of each bill, as a party outside Payrun would. @returns their ids */
  async schedule(payables: readonly string[], inDays: number): Promise<string[]> {
    const scheduledAt = await this.#date(inDays);
    return atOnce(payables.length, async (index) => {
      const payableId = payables[index];
      const pay = { payableId, paymentRail: "SERVICE", fundingSource: "balance", scheduledAt };
      const answer = await this.#ask("POST", "/v1/payments", pay, crypto.randomUUID());
      const [payment] = z.object({ payments: z.array(made) }).parse(answer).payments;
      if (payment === undefined) throw new Error(`${payableId}: there is no payment`);
      return payment.id;
    });
  }

  /** Makes the next payment of each bill bounce for lack of money in our own account. */
  async bounceOnce(payables: readonly string[]): Promise<void> {
    await atOnce(payables.length, async (index) => {
      const rule = {
        match: { payableId: payables[index] },
        outcome: "fail",
        code: "R01",
        times: 1,
      };
      await this.#ask("POST", "/sandbox/outcomes", rule);
    });
  }

  async days(count: number): Promise<void> {
    await this.#ask("POST", "/sandbox/clock", { advance: `P${count}D` });
  }

  /** Returns the number of payments that the service has of each bill. */
  async payments(): Promise<ReadonlyMap<string, number>> {
    const byBill = new Map<string, number>();
    for (let page = 1; ; page += 1) {
      const path = `/v1/payments?page=${page}&pageSize=${PAGE}`;
      const { items } = paymentPage.parse(await this.#ask("GET", path));
      for (const { payableId } of items) {
        byBill.set(payableId, (byBill.get(payableId) ?? 0) + 1);
      }
      if (items.length < PAGE) return byBill;
    }
  }

  /** Returns the date that many days from the bank's. */
  async #date(inDays: number): Promise<string> {
    const { bank } = z.object({ bank: z.string() }).parse(await this.#ask("GET", "/sandbox/clock"));
    return new Date(Date.parse(bank) + inDays * 86_400_000).toISOString().slice(0, 10);
  }

  async #vendor(displayName: string): Promise<string> {
    const bankAccount = {
      accountNumber: "000123456789",
      routingNumber: "021000021",
      accountType: "checking",
    };
    return made.parse(await this.#ask("POST", "/v1/contacts", { displayName, bankAccount })).id;
  }

  async #ask(method: string, path: string, body?: object, key?: string): Promise<unknown> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        "content-type": "application/json",
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }
}

async function atOnce<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) results[index] = await work(index);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
  return results;
}

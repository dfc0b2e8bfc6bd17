import { randomUUID } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import { PaymentsApiError, PaymentsClient } from "../../src/payments-api/index.ts";
import { startSandbox, type TestSandbox } from "../support/sandbox.ts";

/** A running service and the engine's own client of it. */
export class World {
  sandbox!: TestSandbox;
  client!: PaymentsClient;
  readonly #clients: PaymentsClient[] = [];

  /** A client with another token, for example one that lacks scopes. */
  clientWith(token: string): PaymentsClient {
    const client = new PaymentsClient({ baseUrl: this.sandbox.url, token: { value: token } });
    this.#clients.push(client);
    return client;
  }

  /** A vendor that can be paid by ACH; each has a name of its own. */
  async vendor(): Promise<string> {
    const { id } = await this.client.contacts.create({
      displayName: `Vendor ${randomUUID()}`,
      bankAccount: {
        accountNumber: "000123456789",
        routingNumber: "021000021",
        accountType: "checking",
      },
    });
    return id;
  }

  /** An approved bill of a new vendor. */
  async bill(totalAmountCents = 100_00): Promise<string> {
    const contactId = await this.vendor();
    const bill = await this.sandbox.control.createPayable({ contactId, totalAmountCents });
    return bill.id;
  }

  /** The day after tomorrow in New York, `YYYY-MM-DD`: tomorrow or later at any hour. */
  async dayAfterTomorrow(): Promise<string> {
    const { bank } = await this.sandbox.control.clock();
    const inTwoDays = new Date(Date.parse(bank) + 2 * 86_400_000);
    return new Intl.DateTimeFormat("en-CA", { timeZone: "America/New_York" }).format(inTwoDays);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.sandbox.stop();
  }
}

/** Starts a service for the tests of one file. */
export function contractWorld(): World {
  const world = new World();
  beforeAll(async () => {
    world.sandbox = await startSandbox();
    world.client = world.clientWith(world.sandbox.business.token);
  });
  afterAll(() => world.stop());
  return world;
}

/** From the balance, which needs no bank account and no ACH authorization. */
export const FROM_BALANCE = { paymentRail: "SERVICE", fundingSource: "balance" } as const;

export function newKey(): { idempotencyKey: string } {
  return { idempotencyKey: randomUUID() };
}

/** The error that a call was refused with. */
export async function refusal(call: Promise<unknown>): Promise<PaymentsApiError> {
  const outcome = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (outcome instanceof PaymentsApiError) return outcome;
  throw new Error(`it was not refused: ${String(outcome)}`);
}

import { PaymentsClient } from "../../src/payments-api/index.ts";
import type { MoneyWorld } from "../activities/money-world.ts";

/** Returns what the service was really asked to pay for a bill. */
export async function paid({ world }: MoneyWorld, payableId: string) {
  const { url, business } = world.sandbox;
  const client = new PaymentsClient({ baseUrl: url, token: { value: business.token } });
  const payments = await client.payments.listAll({ payableId });
  await client.close();
  return payments.map(({ amountCents, bankAccountId, scheduledAt }) => ({
    ...{ amountCents, bankAccountId, day: scheduledAt?.slice(0, 10) },
  }));
}

import { z } from "@hono/zod-openapi";
import { moment } from "./moment.ts";
import type { Shown } from "./shown.ts";
import { day } from "./times.ts";

const sums = {
  debits: z.int().describe("Statement lines of money that left an account"),
  debitCents: z.int(),
  credits: z.int().describe("Statement lines of money that came into one, or back"),
  creditCents: z.int(),
  netCents: z.int().describe("Credits less debits, as the statements show it"),
};

const account = {
  account: z.string().describe("`balance`, or the service's id of the bank account"),
  source: z.string().describe("Its name and last digits"),
};

export const PeriodReportBody = z
  .object({
    business: z.string(),
    zone: moment.zone,
    from: day.describe("First day, in New York"),
    to: day.describe("Last day, in New York"),
    payments: z.object(sums).describe("The sums over all vendors"),
    deposits: z.object(sums).describe("Deposits into the balance, on both statements"),
    vendors: z
      .array(
        z.object({
          contactId: z.string(),
          vendor: z.string(),
          bills: z.int(),
          ...sums,
          settledCents: z.int().describe("Of the debits: what has reached the vendor"),
        }),
      )
      .describe("Most money first"),
    accounts: z.array(z.object({ ...account, ...sums })),
    days: z.array(z.object({ ...account, date: day, ...sums })),
  })
  .openapi("PeriodReport");

export type PeriodReport = Shown<typeof PeriodReportBody>;

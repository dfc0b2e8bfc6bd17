import { z } from "zod";
import { lenient, openEnum, undocumentedList } from "./common.ts";

type BankAccountStatus =
  | "pending_verification"
  | "verified"
  | "unverified"
  | "removed"
  | (string & {});

/** Bank account of the paying business (API specification, section 2). */
export const bankAccountSchema = z.object({
  id: z.string().min(1),
  status: openEnum<BankAccountStatus>(),
  type: lenient(z.string()),
  connectionType: lenient(z.string()),
  name: lenient(z.string()),
  institutionName: lenient(z.string()),
  accountNumberLast4: lenient(z.string()),
  routingNumberLast4: lenient(z.string()),
  /** Default account of the business; false if the service doesn't say. */
  isDefault: z.boolean().catch(false),
  microDepositsInitiatedAt: lenient(z.string()),
  /** Verification can be attempted once this is not null. */
  microDepositsCompletedAt: lenient(z.string()),
  verificationAttempts: lenient(z.number()),
});

export type BankAccount = z.infer<typeof bankAccountSchema>;

export const bankAccountListSchema = undocumentedList(bankAccountSchema, "bankAccounts");

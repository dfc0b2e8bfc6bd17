import { z } from "zod";
import {
  UNREADABLE,
  id,
  serviceInstant,
  lenient,
  openEnum,
  orUnreadable,
  type Partly,
  shownText,
  undocumentedList,
} from "./common.ts";

type BankAccountStatus =
  | "pending_verification"
  | "verified"
  | "unverified"
  | "removed"
  | (string & {});

/** Bank account of the paying business (API specification, section 2). */
export const bankAccountSchema = z.object({
  id,
  status: openEnum<BankAccountStatus>(),
  type: shownText,
  connectionType: shownText,
  name: shownText,
  institutionName: shownText,
  accountNumberLast4: shownText,
  routingNumberLast4: shownText,
  /** Default account of the business; false if the service doesn't say. */
  isDefault: z.boolean().catch(false),
  microDepositsInitiatedAt: lenient(serviceInstant),
  /** Verification can be attempted once this is not null. */
  microDepositsCompletedAt: lenient(serviceInstant),
  verificationAttempts: lenient(z.number()),
});

export type BankAccount = z.infer<typeof bankAccountSchema> & Partly;

export const bankAccountListSchema = undocumentedList(
  orUnreadable(bankAccountSchema, { status: UNREADABLE }),
  "bankAccounts",
);

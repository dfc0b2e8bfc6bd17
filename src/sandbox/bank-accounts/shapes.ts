import { z } from "zod";
import { instantShape } from "../http/shapes.ts";

/** Bank account of a business, section 2. */
export const bankAccountShape = z
  .object({
    id: z.string(),
    status: z.enum(["pending_verification", "verified", "unverified", "removed"]),
    type: z.enum(["checking", "savings"]),
    connectionType: z.enum(["manual", "aggregator"]),
    name: z.string().nullable(),
    institutionName: z.string().nullable(),
    accountNumberLast4: z.string().nullable(),
    routingNumberLast4: z.string().nullable(),
    isDefault: z.boolean(),
    microDepositsInitiatedAt: instantShape.nullable(),
    microDepositsCompletedAt: instantShape.nullable(),
    verificationAttempts: z.int().min(0),
  })
  .meta({ id: "BankAccount" });

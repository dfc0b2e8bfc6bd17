import { z } from "zod";
import { cents, lenient, nullable, openEnum } from "./common.ts";

type FundingSourceKind = "balance" | "linked_bank" | "bank" | (string & {});

/** Funding source (API specification, section 2). */
const fundingSourceSchema = z.object({
  id: z.string().min(1),
  rail: lenient(z.string()),
  kind: openEnum<FundingSourceKind>(),
  name: lenient(z.string()),
  last4: lenient(z.string()),
  /** Balance only. */
  availableCents: lenient(cents),
  isDefault: z.boolean().catch(false),
  /** Whether a payment can be funded from it now. */
  canPay: z.boolean(),
  /** The reason if `canPay` is false; new values may appear. */
  unavailableReason: lenient(z.string()),
  actionUrl: lenient(z.string()),
  /** The fields to send unchanged on `POST /v1/payments`. */
  pay: nullable(z.record(z.string(), z.unknown())),
});

export type FundingSource = z.infer<typeof fundingSourceSchema>;

export const fundingSourceListSchema = z.object({ items: z.array(fundingSourceSchema) });

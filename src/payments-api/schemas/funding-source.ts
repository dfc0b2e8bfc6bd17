import { z } from "zod";
import {
  UNREADABLE,
  cents,
  id,
  lenient,
  nullable,
  openEnum,
  orUnreadable,
  recordsOf,
  type Partly,
  shownText,
} from "./common.ts";

type FundingSourceKind = "balance" | "linked_bank" | "bank" | (string & {});

/** Funding source (API specification, section 2). */
const fundingSourceSchema = z.object({
  id,
  rail: shownText,
  kind: openEnum<FundingSourceKind>(),
  name: shownText,
  last4: shownText,
  /** Balance only. */
  availableCents: lenient(cents),
  isDefault: z.boolean().catch(false),
  /** Whether a payment can be funded from it now. */
  canPay: z.boolean(),
  /** The reason if `canPay` is false; new values may appear. */
  unavailableReason: shownText,
  actionUrl: shownText,
  /** The fields to send unchanged on `POST /v1/payments`. */
  pay: nullable(z.record(z.string(), z.unknown())),
});

export type FundingSource = z.infer<typeof fundingSourceSchema> & Partly;

export const fundingSourceListSchema = z.object({
  items: recordsOf(
    orUnreadable(
      fundingSourceSchema,
      { canPay: false, unavailableReason: UNREADABLE },
      { kind: UNREADABLE },
    ),
  ),
});

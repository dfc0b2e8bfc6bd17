import { z } from "zod";
import { instantShape } from "../http/shapes.ts";
import { transferStatuses, transferTypes } from "./transfer-rows.ts";

/** A deposit or withdrawal; the specification does not show its shape. */
export const transferShape = z
  .object({
    id: z.string(),
    type: z.enum(transferTypes),
    status: z.enum(transferStatuses),
    amountCents: z.int().min(1),
    bankAccountId: z.string().meta({ description: "The account the money comes from or goes to." }),
    sameDay: z.boolean().meta({ description: "Whether it goes by same-day ACH." }),
    failureReason: z.string().nullable(),
    processedAt: instantShape.nullable(),
    createdAt: instantShape,
    updatedAt: instantShape,
  })
  .meta({ id: "BalanceTransaction" });

import { z } from "zod";
import { dateShape } from "../http/shapes.ts";

/** PayableDetail without its items: what the sandbox lists of a bill. */
export const payableListItemShape = z
  .object({
    id: z.string(),
    publicId: z.string(),
    status: z.enum(["draft", "pending_approval", "approved", "declined", "blocked", "void"]),
    paymentStatus: z.enum(["none", "scheduled", "processing", "settled", "failed", "clawback"]),
    totalAmountCents: z.int().min(1),
    amountPaidCents: z.int().min(0),
    remainingAmountCents: z.int(),
    dueDate: dateShape.nullable(),
    issueDate: dateShape.nullable(),
    customNumber: z.string().nullable(),
    description: z.string().nullable(),
    contact: z.object({ id: z.string().nullable(), displayName: z.string().nullable() }),
  })
  .meta({ id: "PayableListItem" });

/** PayableDetail, section 2. */
export const payableShape = payableListItemShape
  .extend({
    items: z.array(
      z.object({
        name: z.string().nullable(),
        description: z.string().nullable(),
        quantity: z.number(),
        unitAmountCents: z.int(),
        totalCents: z.int(),
      }),
    ),
  })
  .meta({ id: "PayableDetail" });

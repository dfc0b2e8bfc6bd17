import { z } from "zod";
import { billFields, itemsShape } from "./bill-shapes.ts";

/** PayableDetail without its items: what the sandbox lists of a bill. */
export const payableListItemShape = z
  .object({
    id: z.string(),
    publicId: z.string(),
    status: z.enum(["draft", "pending_approval", "approved", "declined", "blocked", "void"]),
    paymentStatus: z.enum(["none", "scheduled", "processing", "settled", "failed", "clawback"]),
    ...billFields,
    contact: z.object({ id: z.string().nullable(), displayName: z.string().nullable() }),
  })
  .meta({ id: "PayableListItem" });

/** PayableDetail, section 2. */
export const payableShape = payableListItemShape
  .extend({ items: itemsShape })
  .meta({ id: "PayableDetail" });

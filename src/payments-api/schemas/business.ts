import { z } from "zod";
import { openEnum, undocumented, undocumentedList } from "./common.ts";

/** API specification, section 3. */
export type VerificationStatus = "pending" | "verified" | "suspended" | "document" | (string & {});

/** A business. Its record is not documented, so only the id is relied on and the rest is kept. */
export const businessSchema = z.looseObject({
  id: z.string().min(1),
  name: undocumented(z.string()),
  alias: undocumented(z.string()),
  /** Undefined if the record does not say; `verification.get` does. */
  verificationStatus: undocumented(openEnum<VerificationStatus>()),
});

export type Business = z.infer<typeof businessSchema>;

export const businessListSchema = undocumentedList(businessSchema, "businesses");

import { z } from "zod";
import { id, openEnum, orUnreadable, longText, undocumented, undocumentedList } from "./common.ts";

/** API specification, section 3. */
export type VerificationStatus = "pending" | "verified" | "suspended" | "document" | (string & {});

/** A business. Its record is not documented, so only the id is relied on and the rest is kept. */
export const businessSchema = z.looseObject({
  id,
  name: undocumented(longText),
  alias: undocumented(longText),
  /** Undefined if the record does not say; `verification.get` does. */
  verificationStatus: undocumented(openEnum<VerificationStatus>()),
});

export type Business = z.infer<typeof businessSchema>;

export const businessListSchema = undocumentedList(orUnreadable(businessSchema), "businesses");

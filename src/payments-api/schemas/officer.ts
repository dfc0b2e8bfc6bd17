import { z } from "zod";
import { undocumented, undocumentedList } from "./common.ts";

/**
 * An officer or owner as returned; the record is not shown, and all of it may be undefined. Other
 * fields are not kept: they may be a full social security number, a birth date or an address.
 */
export const officerSchema = z.object({
  id: undocumented(z.string()),
  firstName: undocumented(z.string()),
  lastName: undocumented(z.string()),
  title: undocumented(z.string()),
  ssnLast4: undocumented(z.string()),
});

export type Officer = z.infer<typeof officerSchema>;

export const officerListSchema = undocumentedList(officerSchema, "officers");

/** The certification of beneficial ownership as it was given; its record is not shown. */
export const certificationSchema = z.looseObject({
  certifierName: undocumented(z.string()),
  certifiedAt: undocumented(z.string()),
});

export type BeneficialOwnershipCertification = z.infer<typeof certificationSchema>;

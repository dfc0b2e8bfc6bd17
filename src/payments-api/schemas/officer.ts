import { z } from "zod";
import { firstOf, jsonObject, longText, undocumented, undocumentedList } from "./common.ts";

/**
 * An officer or owner as returned. The record is not documented, and all of it may be undefined.
 * Other fields are not kept: they may be a full social security number, a birth date or an address.
 */
export const officerSchema = z.preprocess(
  officerFields,
  z.object({
    id: undocumented(longText),
    firstName: undocumented(longText),
    lastName: undocumented(longText),
    title: undocumented(longText),
    ssnLast4: undocumented(longText),
  }),
);

/** Reads a name that may be in one field, and the last four digits that may be behind a mask. */
function officerFields(answer: unknown): unknown {
  const record = jsonObject(answer);
  if (record === undefined) return answer;
  const name = firstOf(record, ["name", "fullName", "displayName"]);
  const words = typeof name === "string" ? name.trim().split(/\s+/) : [];
  const number = firstOf(record, ["ssnLast4", "ssnMask", "last4", "ssn"]);
  return {
    ...record,
    firstName: record["firstName"] ?? (words.slice(0, -1).join(" ") || undefined),
    lastName: record["lastName"] ?? words.at(-1),
    ssnLast4: typeof number === "string" ? number.slice(-4) : undefined,
  };
}

export type Officer = z.infer<typeof officerSchema>;

/** If there are none, the response may be empty. */
export const officerListSchema = z.preprocess(
  (answer) => answer ?? [],
  undocumentedList(officerSchema, "officers"),
);

/** The certification of beneficial ownership as it was given; its record is not documented. */
export const certificationSchema = z.looseObject({
  certifierName: undocumented(longText),
  certifiedAt: undocumented(longText),
});

export type BeneficialOwnershipCertification = z.infer<typeof certificationSchema>;

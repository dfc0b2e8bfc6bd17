import type { ProvidedStep } from "../../contracts/onboarding.ts";

/** The legal acts of an onboarding. */
export type LegalAct = "signature" | "certification";

/**
 * Returns the legal act that vouches for a step's data. A changed or refused input voids the act.
 */
export function actAbout(step: ProvidedStep): LegalAct | undefined {
  if (step === "tax") return "signature";
  return step === "officers" ? "certification" : undefined;
}

/**
 * Returns the text that a person signs. Each act is recorded with its text, so a changed word here
 * affects only later signatures.
 */
export function legalText(act: LegalAct, business: string): string {
  return act === "signature" ? W9(business) : BENEFICIAL_OWNERSHIP(business);
}

const W9 = (business: string): string =>
  [
    `Form W-9, electronic signature for ${business}. Under penalties of perjury, I certify that:`,
    "1. the number submitted is the correct taxpayer identification number of the business;",
    "2. the business is not subject to backup withholding, because it is exempt, or the Internal Revenue Service has not notified it that it is, or has notified it that it no longer is;",
    "3. the business is a U.S. citizen or other U.S. person, as the instructions of Form W-9 define it; and",
    "4. any FATCA code given is correct.",
    "I may sign for the business, and my name entered here is my signature.",
  ].join("\n");

const BENEFICIAL_OWNERSHIP = (business: string): string =>
  [
    `Certification of beneficial ownership for ${business}. I certify, to the best of my knowledge, that:`,
    "1. every individual who owns 25 percent or more of the business, directly or indirectly, is listed with the Payments Service;",
    "2. an individual with significant responsibility for managing the business is listed as well; and",
    "3. what was submitted about each of them is complete and correct.",
  ].join("\n");

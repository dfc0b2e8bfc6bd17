import { z } from "zod";
import { isThisMachine } from "./plaintext.ts";
import { personName, personRoles } from "./signers.ts";

/** A person vouched for by a company's own identity provider. */
export interface Identity {
  readonly issuer: string;
  /** The provider's own id of the person: an e-mail address may pass to another person. */
  readonly subject: string;
  /** Counts as one person with a token of the same name. */
  readonly name: string;
  readonly roles: readonly string[];
}

const text = z.string("must be text").trim().min(1, "must not be empty").max(255);

/** The issuer as the provider writes it, including a trailing slash. */
export const issuer = z
  .string("must be text")
  .trim()
  .max(500, "must be at most 500 characters")
  .refine(isIssuer, "must be the issuer's https:// address (http:// only for this machine)");

function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.search !== "" || url.hash !== "") return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isThisMachine(url.hostname));
}

const identity = z.strictObject({
  issuer,
  subject: text.refine((value) => !value.includes("@"), {
    message: "must be the provider's own id of the person, not an e-mail address",
  }),
  name: personName,
  roles: personRoles,
});

/** `identities: [{ issuer, subject, name, roles }]` of a business; one entry for each person. */
export const identitiesShape = z
  .array(identity, "must be a list of { issuer, subject, name, roles }")
  .superRefine((all, context) => {
    for (const [at, { issuer, subject }] of all.entries()) {
      const first = all.findIndex((each) => each.issuer === issuer && each.subject === subject);
      if (first === at) continue;
      const message = `names the same person as entry ${first + 1}`;
      context.addIssue({ code: "custom", path: [at, "subject"], message });
    }
  });

export const IDENTITY_KEYS = Object.keys(identity.shape);

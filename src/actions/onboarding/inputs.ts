import { z } from "zod";
import type { ProvidedStep } from "../../contracts/onboarding.ts";
import type { InputFacts } from "../../store/schema/onboardings.ts";

/** One provided input, as it is stored: personal data is in `value` and nowhere else. */
export interface Provided {
  readonly facts: InputFacts;
  /** For the vault; undefined if none of it is personal. */
  readonly value?: unknown;
}

/** Most bytes of a document, as the service limits it. */
const DOCUMENT_MAX = 10_000_000;

const name = z.string().trim().min(1, "must not be empty").max(100);

/** Messages say what is expected and never repeat the input. */
const nineDigits = (example: string, pattern: RegExp) =>
  z.string("must be a text of nine digits").regex(pattern, `must be nine digits, as ${example}`);
const ein = nineDigits("12-3456789", /^(\d{9}|\d{2}-\d{7})$/);
const ssn = nineDigits("123-45-6789", /^(\d{9}|\d{3}-\d{2}-\d{4})$/);

const plainDate = z.iso.date("must be a date, YYYY-MM-DD");
const actedAt = z.union(
  [z.iso.datetime({ offset: true }), z.iso.date()],
  "must be an ISO 8601 instant with its offset, or a date",
);

const tax = z
  .strictObject({ ein: ein.optional(), ssn: ssn.optional(), replace: z.boolean().optional() })
  .refine((body) => (body.ein === undefined) !== (body.ssn === undefined), {
    error: "give either ein (LLCs, corporations, partnerships) or ssn (sole proprietorships)",
  });

const textHash = z
  .string()
  .optional()
  .describe("SHA-256, in hex, of the text that was shown; refused if the text has changed");

const signature = z.strictObject({ signerName: name, signedAt: actedAt.optional(), textHash });
const certification = z.strictObject({
  certifierName: name,
  certifiedAt: actedAt.optional(),
  textHash,
});

const officer = z.strictObject({
  firstName: name,
  lastName: name,
  title: name,
  dateOfBirth: plainDate,
  ssn,
  address: z.strictObject({
    street: name,
    city: name,
    state: name,
    zip: z.string().trim().min(1).max(20),
    country: z.string().regex(/^[A-Z]{2,3}$/, "must be a country code such as US"),
  }),
  another: z.boolean().optional().describe("Add them although a listed person looks like them"),
});
const officerList = z.array(officer).min(1, "must name a person").max(50);
const officers = z.union([z.strictObject({ officers: officerList }), officerList, officer]);

const document = z.strictObject({
  documentType: z.string().trim().min(1).max(100).default("einLetter"),
  file: z
    .base64("must be the file's bytes in base64")
    .min(1, "must not be empty")
    .max(Math.ceil(DOCUMENT_MAX / 3) * 4, "is larger than 10 MB"),
});
const documents = z.union([
  z.strictObject({ documents: z.array(document).min(1).max(10) }),
  document,
]);

const bankAccount = z.strictObject({
  accountNumber: z.string().regex(/^\d{4,17}$/, "must be 4 to 17 digits"),
  routingNumber: z.string().regex(/^\d{9}$/, "must be nine digits"),
  accountType: z.enum(["checking", "savings"]),
  name: name.optional(),
});

const cents = z.int().min(1).max(99);
const microDeposits = z.strictObject({
  amountsCents: z.tuple([cents, cents], "must be two amounts of 1 to 99 cents"),
  lastAttempt: z.boolean().optional().describe("Needed if a wrong attempt ends the account"),
});

/**
 * The schema of a step's data, and how it splits into facts that may be known and values for the
 * vault.
 */
interface Taken {
  readonly body: z.ZodType;
  /** @param body the output of the `body` schema */
  readonly items: (body: unknown, nowMs: number) => readonly Provided[];
}

function taken<Schema extends z.ZodType>(
  body: Schema,
  items: (body: z.output<Schema>, nowMs: number) => readonly Provided[],
): Taken {
  return { body, items: (read, nowMs) => items(read as z.output<Schema>, nowMs) };
}

/** What can be provided for each step: the specification's fields, sections 2 and 4. */
export const PROVIDED: Readonly<Record<ProvidedStep, Taken>> = {
  tax: taken(tax, ({ replace, ...value }) => [
    { facts: replace === true ? { replace } : {}, value },
  ]),
  signature: taken(signature, ({ signerName, signedAt }, nowMs) => [
    { facts: { name: signerName, at: signedAt ?? new Date(nowMs).toISOString() } },
  ]),
  officers: taken(officers, (body) =>
    listOf(body).map(({ another, ...value }) => ({
      facts: another === true ? { another } : {},
      value,
    })),
  ),
  certification: taken(certification, ({ certifierName, certifiedAt }, nowMs) => [
    { facts: { name: certifierName, at: certifiedAt ?? new Date(nowMs).toISOString() } },
  ]),
  documents: taken(documents, (body) =>
    ("documents" in body ? body.documents : [body]).map(({ documentType, file }) => ({
      facts: { documentType },
      value: { documentType, contentBase64: file, type: typeOf(file) },
    })),
  ),
  "bank-account": taken(bankAccount, (value) => [{ facts: {}, value }]),
  "micro-deposits": taken(microDeposits, ({ amountsCents, lastAttempt }) => [
    { facts: lastAttempt === true ? { lastAttempt } : {}, value: { amountsCents } },
  ]),
};

function listOf(body: z.output<typeof officers>): readonly z.output<typeof officer>[] {
  if (Array.isArray(body)) return body;
  return "officers" in body ? body.officers : [body];
}

const MEDIA_TYPES: readonly (readonly [string, readonly number[]])[] = [
  ["application/pdf", [0x25, 0x50, 0x44, 0x46]],
  ["image/png", [0x89, 0x50, 0x4e, 0x47]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
];

/** Returns a file's media type by its first bytes, regardless of its name. */
function typeOf(base64: string): string {
  const start = Buffer.from(base64.slice(0, 8), "base64");
  const known = MEDIA_TYPES.find(([, bytes]) => bytes.every((byte, at) => start[at] === byte));
  return known?.[0] ?? "application/octet-stream";
}

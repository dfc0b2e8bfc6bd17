import { z } from "zod";
import type { VerificationStatus } from "./business.ts";
import { fieldsOf, firstOf, openEnum, recordOf, undocumented } from "./common.ts";

type StepState = "missing" | "submitted" | "accepted" | (string & {});

const stepState = undocumented(openEnum<StepState>());

const tinCheckSchema = z.object({
  /** What the IRS says of the tax id. */
  status: undocumented(z.string()),
  checkedAt: undocumented(z.string()),
});

/** A text, or a step with a text: the specification only says that there are next steps. */
const nextStepSchema = z.preprocess(
  (value) => {
    const record = recordOf(value);
    return record === undefined
      ? { message: value }
      : { step: firstOf(record, STEP_NAMES), message: firstOf(record, STEP_TEXTS) };
  },
  z.object({ step: undocumented(z.string()), message: undocumented(z.string()) }),
);

const STEP_NAMES = ["step", "name", "type", "code", "id"];
const STEP_TEXTS = ["message", "description", "text", "title", "label", "action"];

/** Names that a service may have for the state, where it is beside others. */
const STATUS_NAMES = [
  "status",
  "kyb",
  "kybStatus",
  "verificationStatus",
  "kybState",
  "verificationState",
  "state",
];
/** Records of an answer in which the state may stand. */
const STATUS_PLACES = ["kyb", "verification", "kybState", "verificationStatus", "business"];
const TIN_CHECK_NAMES = ["tinCheck", "irsTinCheck", "tinCheckResult", "tinCheckStatus", "tinMatch"];
const KNOWN_STATUSES = ["pending", "verified", "suspended", "document"];

/** What the specification names, wherever an answer has it: "KYB state, IRS TIN check result, next steps". */
function namedAlike(answer: unknown): unknown {
  const body = fieldsOf(answer);
  if (body === undefined) return answer;
  const inner = STATUS_PLACES.map((name) => recordOf(body[name]));
  const places = [body, ...inner.filter((place) => place !== undefined)];
  const said = places.flatMap((place) =>
    STATUS_NAMES.map((name) => place[name]).filter((value) => typeof value === "string"),
  );
  const known = said.find((status) => KNOWN_STATUSES.includes(status.toLowerCase()));
  const inside = places.find((place) => place["steps"] !== undefined || place["nextSteps"]);
  const tinCheck = firstOf(body, TIN_CHECK_NAMES);
  const check = recordOf(tinCheck);
  return {
    ...inside,
    ...body,
    status: known?.toLowerCase() ?? said[0],
    tinCheck:
      check === undefined
        ? { status: tinCheck }
        : { ...check, status: firstOf(check, ["status", "result", "outcome"]) },
  };
}

const nextStepsSchema = z.preprocess(
  (value) => (Array.isArray(value) || value === null || value === undefined ? value : [value]),
  undocumented(z.array(nextStepSchema)),
);

/**
 * How far a business's verification is (`GET /api/businesses/{businessId}/tax/detailed`). Its body
 * is not shown; of what waits for it, nothing can go on without `status`, so that one must be there.
 * Other fields are not kept: this is an answer about tax ids.
 */
export const verificationSchema = z.preprocess(
  namedAlike,
  z.object({
    status: openEnum<VerificationStatus>(),
    /** The reviewer's, in words. */
    reason: undocumented(z.string()),
    taxIdType: undocumented(z.string()),
    /** The last four digits. */
    taxIdMask: undocumented(z.string()),
    tinCheck: undocumented(tinCheckSchema),
    /** Undefined says that the service does not tell what is still missing. */
    steps: undocumented(
      z.object({
        tax: stepState,
        signature: stepState,
        officers: stepState,
        certification: stepState,
        documents: stepState,
      }),
    ),
    /** Values of `documentType` that are wanted. */
    requestedDocuments: undocumented(z.array(z.string())),
    nextSteps: nextStepsSchema,
    decidedAt: undocumented(z.string()),
  }),
);

export type Verification = z.infer<typeof verificationSchema>;

/**
 * Tax info on file; its record is not shown, and all of it may be undefined. Other fields are not
 * kept, since a full tax id could be one of them.
 */
export const taxInfoSchema = z.preprocess(
  taxFields,
  z.object({
    legalName: undocumented(z.string()),
    taxIdType: undocumented(z.string()),
    /** The last four digits. */
    taxIdMask: undocumented(z.string()),
    submittedAt: undocumented(z.string()),
    tinCheck: undocumented(tinCheckSchema),
    signature: undocumented(
      z.object({ signerName: undocumented(z.string()), signedAt: undocumented(z.string()) }),
    ),
  }),
);

/** Names that a service may have for the last four digits of a tax id. */
const MASK_NAMES = ["taxIdMask", "taxIdLast4", "einLast4", "ssnLast4", "tinLast4", "ein", "ssn"];

/** As read: none on file may be an empty answer. */
export const taxInfoOnFileSchema = z.preprocess((answer) => answer ?? {}, taxInfoSchema);

/** Tax info may stand in a record of its own, under other names. */
function taxFields(answer: unknown): unknown {
  const data = fieldsOf(answer);
  if (data === undefined) return answer;
  const body = { ...data, ...recordOf(data["taxInfo"]) };
  const mask = firstOf(body, MASK_NAMES);
  const { signerName, signedAt } = body;
  const signature =
    body["signature"] ?? (signerName === undefined ? undefined : { signerName, signedAt });
  // Whatever is shown of the number, no more than its end is kept.
  return { ...body, signature, taxIdMask: typeof mask === "string" ? mask.slice(-4) : undefined };
}

export type TaxInfo = z.infer<typeof taxInfoSchema>;

/** A document that was taken in; its record is not shown. */
export const verificationDocumentSchema = z.looseObject({
  id: undocumented(z.string()),
  documentType: undocumented(z.string()),
  uploadedAt: undocumented(z.string()),
});

export type VerificationDocument = z.infer<typeof verificationDocumentSchema>;

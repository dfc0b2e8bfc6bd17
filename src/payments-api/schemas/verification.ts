import { z } from "zod";
import type { VerificationStatus } from "./business.ts";
import { fieldsOf, firstOf, openEnum, jsonObject, longText, undocumented } from "./common.ts";

type StepState = "missing" | "submitted" | "accepted" | (string & {});

const stepState = undocumented(openEnum<StepState>());

const tinCheckSchema = z.object({
  /** The IRS's result for the tax id. */
  status: undocumented(longText),
  checkedAt: undocumented(longText),
});

/** A text, or a step with a text: the specification only says that there are next steps. */
const nextStepSchema = z.preprocess(
  (value) => {
    const record = jsonObject(value);
    return record === undefined
      ? { message: value }
      : { step: firstOf(record, STEP_NAMES), message: firstOf(record, STEP_TEXTS) };
  },
  z.object({ step: undocumented(longText), message: undocumented(longText) }),
);

const STEP_NAMES = ["step", "name", "type", "code", "id"];
const STEP_TEXTS = ["message", "description", "text", "title", "label", "action"];

/** Names that a service may use for the state, beside other fields. */
const STATUS_NAMES = [
  "status",
  "kyb",
  "kybStatus",
  "verificationStatus",
  "kybState",
  "verificationState",
  "state",
];
/** Records of a response that may contain the state. */
const STATUS_PLACES = ["kyb", "verification", "kybState", "verificationStatus", "business"];
const TIN_CHECK_NAMES = ["tinCheck", "irsTinCheck", "tinCheckResult", "tinCheckStatus", "tinMatch"];
const KNOWN_STATUSES = ["pending", "verified", "suspended", "document"];

/**
 * Finds the fields that the specification names, wherever a response has them: "KYB state, IRS TIN
 * check result, next steps".
 */
function namedAlike(answer: unknown): unknown {
  const body = fieldsOf(answer);
  if (body === undefined) return answer;
  const inner = STATUS_PLACES.map((name) => jsonObject(body[name]));
  const places = [body, ...inner.filter((place) => place !== undefined)];
  const said = places.flatMap((place) =>
    STATUS_NAMES.map((name) => place[name]).filter((value) => typeof value === "string"),
  );
  const known = said.find((status) => KNOWN_STATUSES.includes(status.toLowerCase()));
  const inside = places.find((place) => place["steps"] !== undefined || place["nextSteps"]);
  const tinCheck = firstOf(body, TIN_CHECK_NAMES);
  const check = jsonObject(tinCheck);
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
 * The state of a business's verification (`GET /api/businesses/{businessId}/tax/detailed`). The
 * body is not documented. Whatever waits for the verification can't continue without `status`, so
 * `status` is required. Other fields are not kept: this is a response about tax ids.
 */
export const verificationSchema = z.preprocess(
  namedAlike,
  z.object({
    status: openEnum<VerificationStatus>(),
    /** The reviewer's reason, in words. */
    reason: undocumented(longText),
    taxIdType: undocumented(longText),
    /** The last four digits. */
    taxIdMask: undocumented(longText),
    tinCheck: undocumented(tinCheckSchema),
    /** Undefined if the service does not say what is still missing. */
    steps: undocumented(
      z.object({
        tax: stepState,
        signature: stepState,
        officers: stepState,
        certification: stepState,
        documents: stepState,
      }),
    ),
    /** Requested values of `documentType`. */
    requestedDocuments: undocumented(z.array(z.string())),
    nextSteps: nextStepsSchema,
    decidedAt: undocumented(longText),
  }),
);

export type Verification = z.infer<typeof verificationSchema>;

/**
 * Tax info on file. The record is not documented, and all of it may be undefined. Other fields are
 * not kept, since a full tax id could be one of them.
 */
export const taxInfoSchema = z.preprocess(
  taxFields,
  z.object({
    legalName: undocumented(longText),
    taxIdType: undocumented(longText),
    /** The last four digits. */
    taxIdMask: undocumented(longText),
    submittedAt: undocumented(longText),
    tinCheck: undocumented(tinCheckSchema),
    signature: undocumented(
      z.object({ signerName: undocumented(longText), signedAt: undocumented(longText) }),
    ),
  }),
);

/** Names that a service may use for the last four digits of a tax id. */
const MASK_NAMES = ["taxIdMask", "taxIdLast4", "einLast4", "ssnLast4", "tinLast4", "ein", "ssn"];

/** Tax info as read; if none is on file, the response may be empty. */
export const taxInfoOnFileSchema = z.preprocess((answer) => answer ?? {}, taxInfoSchema);

/** Reads tax info that may be in a record of its own, under other names. */
function taxFields(answer: unknown): unknown {
  const data = fieldsOf(answer);
  if (data === undefined) return answer;
  const body = { ...data, ...jsonObject(data["taxInfo"]) };
  const mask = firstOf(body, MASK_NAMES);
  const { signerName, signedAt } = body;
  const signature =
    body["signature"] ?? (signerName === undefined ? undefined : { signerName, signedAt });
  // However much of the number is shown, only its end is kept.
  return { ...body, signature, taxIdMask: typeof mask === "string" ? mask.slice(-4) : undefined };
}

export type TaxInfo = z.infer<typeof taxInfoSchema>;

/** A document that the service accepted; its record is not documented. */
export const verificationDocumentSchema = z.looseObject({
  id: undocumented(longText),
  documentType: undocumented(longText),
  uploadedAt: undocumented(longText),
});

export type VerificationDocument = z.infer<typeof verificationDocumentSchema>;

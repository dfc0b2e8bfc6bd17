import { z } from "zod";
import type { VerificationStatus } from "./business.ts";
import { openEnum, undocumented } from "./common.ts";

type StepState = "missing" | "submitted" | "accepted" | (string & {});

const stepState = undocumented(openEnum<StepState>());

const tinCheckSchema = z.object({
  /** What the IRS says of the tax id. */
  status: undocumented(z.string()),
  checkedAt: undocumented(z.string()),
});

/** A text, or a step with a text: the specification only says that there are next steps. */
const nextStepSchema = z.union([
  z.string().transform((message) => ({ step: undefined, message })),
  z.object({ step: undocumented(z.string()), message: undocumented(z.string()) }),
]);

/**
 * How far a business's verification is (`GET /api/businesses/{businessId}/tax/detailed`). Its body
 * is not shown; of what waits for it, nothing can go on without `status`, so that one must be there.
 * Other fields are not kept: this is an answer about tax ids.
 */
export const verificationSchema = z.object({
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
  nextSteps: undocumented(z.array(nextStepSchema)),
  decidedAt: undocumented(z.string()),
});

export type Verification = z.infer<typeof verificationSchema>;

/**
 * Tax info on file; its record is not shown, and all of it may be undefined. Other fields are not
 * kept, since a full tax id could be one of them.
 */
export const taxInfoSchema = z.object({
  legalName: undocumented(z.string()),
  taxIdType: undocumented(z.string()),
  /** The last four digits. */
  taxIdMask: undocumented(z.string()),
  submittedAt: undocumented(z.string()),
  tinCheck: undocumented(tinCheckSchema),
  signature: undocumented(
    z.object({ signerName: undocumented(z.string()), signedAt: undocumented(z.string()) }),
  ),
});

export type TaxInfo = z.infer<typeof taxInfoSchema>;

/** A document that was taken in; its record is not shown. */
export const verificationDocumentSchema = z.looseObject({
  id: undocumented(z.string()),
  documentType: undocumented(z.string()),
  uploadedAt: undocumented(z.string()),
});

export type VerificationDocument = z.infer<typeof verificationDocumentSchema>;

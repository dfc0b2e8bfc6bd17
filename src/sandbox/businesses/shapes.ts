import { z } from "zod";
import { instantShape } from "../http/shapes.ts";
import { stepNames, tinStatuses } from "./steps.ts";
import { entityTypes } from "./tables.ts";

const verificationStatus = z.enum(["pending", "verified", "suspended", "document"]);

const businessFields = {
  id: z.string(),
  name: z.string(),
  alias: z.string().nullable(),
  entityType: z
    .enum(entityTypes)
    .nullable()
    .meta({ description: "Null where it is not known; then an EIN and an SSN are both taken." }),
  verificationStatus,
  logo: z
    .object({
      contentType: z.string(),
      sizeBytes: z.int().min(1),
      sha256: z.string(),
      uploadedAt: instantShape,
    })
    .nullable(),
  createdAt: instantShape,
  updatedAt: instantShape.nullable(),
};

/** A business in the list; the specification does not show its fields. */
export const listedBusinessShape = z.object(businessFields).meta({ id: "Business" });

/** A business with everything that bears on whether it can pay. */
export const businessDetailShape = z
  .object({
    ...businessFields,
    organizationId: z.string(),
    canPay: z.boolean(),
    setup: z.enum(["complete", "incomplete"]),
    paymentsLocked: z.boolean(),
    features: z.object({ balance: z.boolean(), acceleratedClearing: z.boolean() }),
    balanceStatus: z.enum(["open", "closed"]).nullable(),
    dashboardUrl: z.string(),
  })
  .meta({ id: "BusinessDetail" });

const tinCheck = z.object({
  status: z.enum(tinStatuses),
  checkedAt: instantShape.nullable(),
});

/** Tax info on file; the tax id itself is write-only. */
export const taxInfoShape = z
  .object({
    legalName: z.string(),
    taxIdType: z.enum(["ein", "ssn"]).nullable(),
    taxIdMask: z.string().nullable().meta({ description: "The last four digits." }),
    submittedAt: instantShape.nullable(),
    tinCheck,
    signature: z.object({ signerName: z.string(), signedAt: z.string() }).nullable(),
  })
  .meta({ id: "TaxInfo" });

const stepState = z.enum(["missing", "submitted", "accepted"]);

/** The state of a business's verification. */
export const verificationShape = z
  .object({
    businessId: z.string(),
    status: verificationStatus,
    reason: z.string().nullable().meta({ description: "The reviewer's, where there is one." }),
    taxIdType: z.enum(["ein", "ssn"]).nullable(),
    taxIdMask: z.string().nullable(),
    tinCheck,
    steps: z.object({
      tax: stepState,
      signature: stepState,
      officers: stepState,
      certification: stepState,
      documents: stepState,
    }),
    requestedDocuments: z.array(z.string()).meta({
      description: "Values of documentType that are wanted now; empty unless status is document.",
    }),
    nextSteps: z.array(z.object({ step: z.enum([...stepNames, "support"]), message: z.string() })),
    decidedAt: instantShape.nullable(),
  })
  .meta({ id: "BusinessVerification" });

/** An officer or owner; the social security number, birth date and address are write-only. */
export const officerShape = z
  .object({
    id: z.string(),
    firstName: z.string(),
    lastName: z.string(),
    title: z.string(),
    ssnLast4: z.string(),
  })
  .meta({ id: "Officer" });

/** The certification of beneficial ownership as it was given. */
export const certificationShape = z
  .object({ certifierName: z.string(), certifiedAt: z.string() })
  .meta({ id: "BeneficialOwnershipCertification" });

/** A verification document that was accepted; its content and its file's name are not stored. */
export const documentShape = z
  .object({
    id: z.string(),
    documentType: z.string(),
    contentType: z.string(),
    sizeBytes: z.int().min(1),
    uploadedAt: instantShape,
  })
  .meta({ id: "VerificationDocument" });

import { z } from "zod";
import { defineOperation, type ServiceOperation } from "../http/operation.ts";
import { fileField } from "../http/multipart.ts";
import { optional } from "../http/validation.ts";
import { documentTypes, largestDocumentBytes, uploadDocument } from "./documents.ts";
import { actedAt, givenName, refuseFuture } from "./fields.ts";
import { ownBusiness } from "./own-business.ts";
import { documentShape, taxInfoShape, verificationShape } from "./shapes.ts";
import { signTaxForm, submitTaxId } from "./tax.ts";
import { taxInfoJson, verificationJson } from "./views.ts";

const reading = ["businesses:read", "businesses:write"];
const writing = ["businesses:write"];

const ein = z
  .string()
  .regex(/^(\d{9}|\d{2}-\d{7})$/, { error: "must be nine digits, such as 12-3456789" });
const ssn = z
  .string()
  .regex(/^(\d{9}|\d{3}-\d{2}-\d{4})$/, { error: "must be nine digits, such as 123-45-6789" });

const taxIdInput = z.object({ ein: optional(ein), ssn: optional(ssn) }).check((check) => {
  const { ein: asEin, ssn: asSsn } = check.value;
  if ((asEin === undefined) !== (asSsn === undefined)) return;
  check.issues.push({
    code: "custom",
    // Not the value itself: an issue's input may be shown.
    input: undefined,
    path: ["ein"],
    message: "exactly one of ein and ssn is needed",
    params: { status: 400 },
  });
});

const getTaxInfo = defineOperation({
  name: "getTaxInfo",
  summary: "Shows the tax info on file, the tax id by its last four digits only.",
  method: "GET",
  path: "/api/businesses/{businessId}/tax",
  scopes: reading,
  idempotency: "none",
  errors: ["not_found"],
  answer: { status: 200, body: taxInfoShape },
  handler: ({ ctx, caller, params }) => {
    const business = ownBusiness(ctx, caller, params);
    return { status: 200, body: taxInfoJson(ctx.db, business, ctx.clock.bankNow()) };
  },
});

const submitTaxInfo = defineOperation({
  name: "submitTaxInfo",
  summary: "Submits the tax id for the check of the IRS.",
  description:
    "An EIN for LLCs, corporations and partnerships, an SSN for sole proprietorships. A new tax id needs a new signature. The check takes a minute of the bank clock; 11-1111111 and 111-11-1111 are never matched.",
  method: "PATCH",
  path: "/api/businesses/{businessId}/tax",
  scopes: writing,
  idempotency: "refused",
  errors: ["validation_error", "not_found"],
  answer: { status: 200, body: taxInfoShape },
  body: taxIdInput,
  handler: ({ ctx, caller, params, body }) => {
    const business = ownBusiness(ctx, caller, params);
    if (body.ein !== undefined) submitTaxId(ctx, business, "ein", body.ein);
    if (body.ssn !== undefined) submitTaxId(ctx, business, "ssn", body.ssn);
    return { status: 200, body: taxInfoJson(ctx.db, business, ctx.clock.bankNow()) };
  },
});

const getVerification = defineOperation({
  name: "getVerification",
  summary: "Shows how far the verification is, the check of the tax id, and what to do next.",
  method: "GET",
  path: "/api/businesses/{businessId}/tax/detailed",
  scopes: reading,
  idempotency: "none",
  errors: ["not_found"],
  answer: { status: 200, body: verificationShape },
  handler: ({ ctx, caller, params }) => {
    const business = ownBusiness(ctx, caller, params);
    return { status: 200, body: verificationJson(ctx.db, business, ctx.clock.bankNow()) };
  },
});

const signW9 = defineOperation({
  name: "signTaxForm",
  summary: "Signs the W-9 electronically.",
  method: "PATCH",
  path: "/api/businesses/{businessId}/tax/signature",
  scopes: writing,
  idempotency: "refused",
  errors: ["setup_incomplete", "validation_error", "not_found"],
  answer: { status: 200, body: taxInfoShape },
  body: z.object({ signerName: givenName, signedAt: actedAt }),
  handler: ({ ctx, caller, params, body }) => {
    const business = ownBusiness(ctx, caller, params);
    refuseFuture(ctx, "signedAt", body.signedAt);
    signTaxForm(ctx, business, body);
    return { status: 200, body: taxInfoJson(ctx.db, business, ctx.clock.bankNow()) };
  },
});

const uploadVerificationDocument = defineOperation({
  name: "uploadVerificationDocument",
  summary: "Uploads a document that the review asked for; the business goes back to review.",
  description: "Only while the verification status is document. A PDF, PNG or JPEG of up to 10 MB.",
  method: "POST",
  path: "/api/businesses/{businessId}/tax/upload-verification-documents",
  scopes: writing,
  idempotency: "refused",
  bodyKind: "multipart",
  errors: ["validation_error", "not_found"],
  answer: { status: 201, body: documentShape },
  body: z.object({ file: fileField(largestDocumentBytes), documentType: z.enum(documentTypes) }),
  handler: ({ ctx, caller, params, body }) => {
    const business = ownBusiness(ctx, caller, params);
    return { status: 201, body: uploadDocument(ctx, business, body.documentType, body.file) };
  },
});

/** Tax info, signature, verification and its documents (API specification, section 4). */
export const taxOperations: readonly ServiceOperation[] = [
  getTaxInfo,
  submitTaxInfo,
  getVerification,
  signW9,
  uploadVerificationDocument,
];

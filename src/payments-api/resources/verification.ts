import type { UploadedFile } from "../form.ts";
import type { Requester } from "../requester.ts";
import { whereShown } from "../schemas/common.ts";
import {
  type TaxInfo,
  taxInfoOnFileSchema,
  taxInfoSchema,
  type Verification,
  type VerificationDocument,
  verificationDocumentSchema,
  verificationSchema,
} from "../schemas/verification.ts";
import type { CallOptions } from "../transport.ts";
import { businessPath } from "./businesses.ts";

/** LLCs, corporations and partnerships have an EIN, sole proprietorships an SSN. */
type TaxIdInput = { ein: string } | { ssn: string };

const submittedSchema = whereShown(taxInfoSchema);
const uploadedSchema = whereShown(verificationDocumentSchema);

/**
 * Verification of a business: tax info, then the signature, then officers and their certification
 * (`Officers`), then documents where they are asked for (API specification, sections 3 and 4).
 * Answers are not shown there, so those of writes are undefined where they are not as expected.
 *
 * These writes take no idempotency key: read before writing, and again after an outcome `unknown`.
 * No error shows a tax id.
 */
export class VerificationResource {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    this.#requester = requester;
  }

  /** KYB state, the IRS's answer and the next steps: what to poll. */
  get(businessId: string, options?: CallOptions): Promise<Verification> {
    const path = `${taxPath(businessId)}/detailed`;
    return this.#requester.read(path, verificationSchema, options);
  }

  /** Tax info on file. */
  getTaxInfo(businessId: string, options?: CallOptions): Promise<TaxInfo> {
    return this.#requester.read(taxPath(businessId), taxInfoOnFileSchema, options);
  }

  /** Has the IRS check the tax id. */
  submitTaxInfo(
    businessId: string,
    taxId: TaxIdInput,
    options?: CallOptions,
  ): Promise<TaxInfo | undefined> {
    const sensitive = Object.values(taxId);
    const write = { ...options, path: taxPath(businessId), body: taxId, sensitive };
    return this.#requester.write({ ...write, method: "PATCH" }, submittedSchema);
  }

  /**
   * Signs the W-9: a legal act of the person named.
   *
   * @param signature `signedAt`: ISO 8601.
   */
  sign(
    businessId: string,
    signature: { signerName: string; signedAt: string },
    options?: CallOptions,
  ): Promise<TaxInfo | undefined> {
    const path = `${taxPath(businessId)}/signature`;
    const write = { ...options, method: "PATCH" as const, path, body: signature };
    return this.#requester.write(write, submittedSchema);
  }

  /** Taken only while the status is `document`. */
  uploadDocument(
    businessId: string,
    document: { file: UploadedFile; documentType: "einLetter" | (string & {}) },
    options?: CallOptions,
  ): Promise<VerificationDocument | undefined> {
    const path = `${taxPath(businessId)}/upload-verification-documents`;
    const { file, documentType } = document;
    const write = { ...options, method: "POST" as const, path, form: { documentType, file } };
    return this.#requester.write(write, uploadedSchema);
  }
}

function taxPath(businessId: string): string {
  return `${businessPath(businessId)}/tax`;
}

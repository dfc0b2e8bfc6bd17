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
 * (`Officers`), then documents if they are requested (API specification, sections 3 and 4). The
 * specification does not show the responses, so writes return undefined if theirs is not as
 * expected.
 *
 * These writes take no idempotency key: read before writing, and again after an outcome `unknown`.
 * No error shows a tax id.
 */
export class VerificationResource {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    this.#requester = requester;
  }

  /** Returns what to poll: the KYB state, the IRS's result and the next steps. */
  get(businessId: string, options?: CallOptions): Promise<Verification> {
    const path = `${taxPath(businessId)}/detailed`;
    return this.#requester.read(path, verificationSchema, options);
  }

  /** Returns the tax info on file. */
  getTaxInfo(businessId: string, options?: CallOptions): Promise<TaxInfo> {
    return this.#requester.read(taxPath(businessId), taxInfoOnFileSchema, options);
  }

  /** Submits the tax id, which the IRS then checks. */
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
   * @param signature `signedAt`: ISO 8601
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

  /** Uploads a document; the service accepts it only while the status is `document`. */
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

import { createHash } from "node:crypto";
import type { SandboxContext } from "../context.ts";
import { invalid } from "../http/api-error.ts";
import { instantText, newId } from "../ids.ts";
import { type BusinessRow, changeBusiness } from "../resources/businesses.ts";
import { fileTypeOf } from "./file-type.ts";
import { changeVerification, type DocumentRow, insertDocument } from "./tables.ts";

/** The accepted values of `documentType` (API specification, section 4). */
export const documentTypes = ["einLetter"] as const;

/** The largest file: 10 MB, so that it fits, with its multipart frame, into the largest body. */
export const largestDocumentBytes = 10_000_000;

const documentFileTypes: readonly string[] = ["application/pdf", "image/png", "image/jpeg"];

/**
 * Accepts a document that the review has requested, which puts the business back into review. What
 * the document shows is personal, so only its size and hash are stored.
 *
 * @throws {ApiError} 422 if no document was requested, or the file is neither a PDF nor an image.
 */
export function uploadDocument(
  ctx: SandboxContext,
  business: BusinessRow,
  documentType: (typeof documentTypes)[number],
  content: Uint8Array,
): Record<string, unknown> {
  if (business.verification !== "document") {
    throw invalid(
      "businessId",
      `The business is ${business.verification}; documents are taken only while it is "document"`,
    );
  }
  const contentType = fileTypeOf(content);
  if (contentType === undefined || !documentFileTypes.includes(contentType)) {
    throw invalid("file", "file must be a PDF, a PNG or a JPEG");
  }
  const row: DocumentRow = {
    id: newId("doc"),
    business_id: business.id,
    document_type: documentType,
    content_type: contentType,
    size_bytes: content.length,
    sha256: createHash("sha256").update(content).digest("hex"),
    uploaded_at: ctx.clock.bankNow(),
  };
  insertDocument(ctx.db, row);
  changeBusiness(ctx.db, business.id, { verification: "pending" });
  changeVerification(ctx.db, business.id, {
    documents_step: "submitted",
    reason: null,
    requests: "[]",
  });
  return documentJson(row);
}

export function documentJson(row: DocumentRow): Record<string, unknown> {
  return {
    id: row.id,
    documentType: row.document_type,
    contentType: row.content_type,
    sizeBytes: row.size_bytes,
    uploadedAt: instantText(row.uploaded_at),
  };
}

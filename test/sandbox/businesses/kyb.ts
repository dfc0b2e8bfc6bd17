import type { ApiAnswer, Json, TestSandbox } from "../../support/sandbox.ts";

/** The fields of `GET …/tax/detailed` that the tests read. */
export interface Verification {
  status: string;
  reason: string | null;
  taxIdMask: string | null;
  tinCheck: { status: string; checkedAt: string | null };
  steps: Record<"tax" | "signature" | "officers" | "certification" | "documents", string>;
  requestedDocuments: string[];
  nextSteps: { step: string; message: string }[];
}

export const taxId = { ein: "98-7654321" };
export const signature = { signerName: "Ada Okafor", signedAt: "2026-01-15T09:30:00-05:00" };
export const certification = { certifierName: "Ada Okafor", certifiedAt: "2026-01-15T14:40:00Z" };
export const officer = {
  firstName: "Ada",
  lastName: "Okafor",
  title: "Chief Executive",
  dateOfBirth: "1979-02-28",
  ssn: "321-54-9876",
  address: {
    street: "12 Harbor Street",
    city: "Portland",
    state: "ME",
    zip: "04101-2286",
    country: "US",
  },
};

export const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
export const pdf = new TextEncoder().encode("%PDF-1.7 an EIN letter");

/** Returns a path below the first business, or below another one. */
export function at(
  sandbox: TestSandbox,
  rest = "",
  businessId = sandbox.business.businessId,
): string {
  return `/api/businesses/${businessId}${rest}`;
}

/** Sends one of the `/api` family's requests for the first business. */
export function call(
  sandbox: TestSandbox,
  method: string,
  rest: string,
  body?: unknown,
): Promise<ApiAnswer> {
  return sandbox.api(method, at(sandbox, rest), body === undefined ? {} : { body });
}

export async function verification(sandbox: TestSandbox): Promise<Verification> {
  return (await sandbox.api<Verification>("GET", at(sandbox, "/tax/detailed"))).body;
}

/** Sends a raw body, for uploads and for requests that are no valid upload. */
export async function send(
  sandbox: TestSandbox,
  rest: string,
  body: string | FormData | undefined,
  headers: Record<string, string> = {},
  businessId?: string,
): Promise<{ status: number; body: Json }> {
  const response = await fetch(`${sandbox.url}${at(sandbox, rest, businessId)}`, {
    method: "POST",
    headers: { authorization: `Bearer ${sandbox.business.token}`, ...headers },
    ...(body !== undefined && { body }),
  });
  return { status: response.status, body: (await response.json()) as Json };
}

/** Uploads a file and further fields as a multipart form. */
export function upload(
  sandbox: TestSandbox,
  rest: string,
  content: Uint8Array,
  fields: Record<string, string> = {},
  businessId?: string,
): Promise<{ status: number; body: Json }> {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(content)]), "upload.bin");
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return send(sandbox, rest, form, {}, businessId);
}

export function uploadLetter(sandbox: TestSandbox): Promise<{ status: number; body: Json }> {
  return upload(sandbox, documents, pdf, { documentType: "einLetter" });
}

export const documents = "/tax/upload-verification-documents";
export const certify = "/officers/certify-beneficial-ownership";

/** Submits the steps of verification in order, up to the named one. */
export async function submit(
  sandbox: TestSandbox,
  upTo: "tax" | "signature" | "officers" | "certification" = "certification",
): Promise<void> {
  const steps = [
    ["tax", () => call(sandbox, "PATCH", "/tax", taxId)],
    ["signature", () => call(sandbox, "PATCH", "/tax/signature", signature)],
    ["officers", () => call(sandbox, "POST", "/officers", officer)],
    ["certification", () => call(sandbox, "POST", certify, certification)],
  ] as const;
  for (const [name, take] of steps) {
    const answer = await take();
    if (answer.status >= 300) throw new Error(`${name}: ${answer.text}`);
    if (name === upTo) return;
  }
}

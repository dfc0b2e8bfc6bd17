import { createHmac, timingSafeEqual } from "node:crypto";

/** The input of `verifyWebhook`. */
interface WebhookToVerify {
  /** The bytes as received, before any decoding. */
  rawBody: Uint8Array;
  /** `Service-Signature`; undefined if the request has none. */
  signatureHeader: string | undefined;
  /** Secrets in force, including `whsec_`; several while one is being rotated. */
  secrets: readonly string[];
  /** The service's clock. */
  nowMs: number;
  /** How far the timestamp may be off, in either direction. 300,000 unless given. */
  toleranceMs?: number;
}

interface Refusal<Reason> {
  ok: false;
  reason: Reason;
}

type HeaderRefusal = Refusal<
  "no_secret" | "missing_header" | "malformed_header" | "too_old" | "too_new"
>;

type WebhookVerification = { ok: true } | HeaderRefusal | Refusal<"no_match">;

/**
 * Checks the signature of a webhook (API specification, section 6): HMAC-SHA256 over `<t>.<raw
 * body>`, keyed with the whole text of the secret, compared in constant time.
 */
export function verifyWebhook(webhook: WebhookToVerify): WebhookVerification {
  const judged = judgeSignatureHeader(webhook);
  if (!judged.ok) return judged;
  const { header, keys } = judged;
  let matches = false;
  for (const key of keys) {
    const expected = createHmac("sha256", key)
      .update(`${header.timestamp}.`)
      .update(webhook.rawBody)
      .digest();
    // No early exit: the time taken must not reveal which secret or signature was the right one.
    for (const signature of header.signatures) {
      if (timingSafeEqual(expected, signature)) matches = true;
    }
  }
  return matches ? { ok: true } : { ok: false, reason: "no_match" };
}

/** Judges the header before the body is read. */
export function judgeSignatureHeader(
  webhook: Omit<WebhookToVerify, "rawBody">,
): { ok: true; header: SignatureHeader; keys: string[] } | HeaderRefusal {
  const { signatureHeader, secrets, nowMs, toleranceMs = 300_000 } = webhook;
  // An empty key would accept what anyone can sign.
  const keys = secrets.filter((secret) => secret !== "");
  if (keys.length === 0) return { ok: false, reason: "no_secret" };
  if (!signatureHeader) return { ok: false, reason: "missing_header" };
  const header = parseSignatureHeader(signatureHeader);
  if (header === undefined) return { ok: false, reason: "malformed_header" };

  const ageMs = nowMs - Number(header.timestamp) * 1000;
  if (ageMs > toleranceMs) return { ok: false, reason: "too_old" };
  if (ageMs < -toleranceMs) return { ok: false, reason: "too_new" };
  return { ok: true, header, keys };
}

interface SignatureHeader {
  /** As written, since it is part of what was signed. */
  timestamp: string;
  signatures: Uint8Array[];
}

function parseSignatureHeader(header: string): SignatureHeader | undefined {
  let timestamp: string | undefined;
  const signatures: Uint8Array[] = [];
  for (const part of header.split(",")) {
    const separator = part.indexOf("=");
    if (separator < 0) return undefined;
    const name = part.slice(0, separator).trim();
    const value = part.slice(separator + 1).trim();
    if (name === "t") {
      // Two timestamps would leave open which of them was signed.
      if (timestamp !== undefined || !/^\d{1,12}$/.test(value)) return undefined;
      timestamp = value;
    } else if (name === "v1" && /^[0-9a-f]{64}$/i.test(value)) {
      signatures.push(Buffer.from(value, "hex"));
    }
  }
  return timestamp === undefined || signatures.length === 0 ? undefined : { timestamp, signatures };
}

import { createHmac } from "node:crypto";
import { once } from "node:events";
import { type Dispatcher, request } from "undici";

const answerLimitMs = 10_000;
const keptBodyBytes = 1_000;

/** What is sent: the exact body, and what its headers say. */
export interface Shipment {
  url: string;
  secret: string;
  deliveryId: string;
  eventId: string;
  body: string;
  /** Signing time on the wire clock, in milliseconds. */
  signedAtMs: number;
}

/** The endpoint's answer, or why there was none. */
export interface AttemptResult {
  succeeded: boolean;
  responseCode: number | null;
  /** The start of the answer's body. */
  responseBody: string | null;
  error: string | null;
}

/**
 * Returns `t=<unix seconds>,v1=<hex HMAC-SHA256>` over `<t>.<body>` (API specification, section 6).
 *
 * @param secret the whole text of the secret, `whsec_` included, is the key.
 */
function sign(secret: string, body: string, atMs: number): string {
  const t = Math.floor(atMs / 1_000);
  const v1 = createHmac("sha256", secret).update(`${t}.${body}`).digest("hex");
  return `t=${t},v1=${v1}`;
}

/**
 * Posts a shipment once and waits at most ten seconds for the head of the answer. Never throws: any
 * error is a failed attempt.
 *
 * @param signal abandons the attempt.
 */
export async function attempt(
  dispatcher: Dispatcher,
  shipment: Shipment,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(answerLimitMs)]);
  try {
    const sending = request(shipment.url, {
      dispatcher,
      method: "POST",
      signal: limit,
      headers: {
        "content-type": "application/json",
        "user-agent": "Service-Webhooks/1.0",
        "service-signature": sign(shipment.secret, shipment.body, shipment.signedAtMs),
        "service-event-id": shipment.eventId,
        "service-webhook-id": shipment.deliveryId,
      },
      body: shipment.body,
    });
    // A request that still waits for its connection does not react to its signal.
    const response = await Promise.race([sending, aborted(limit)]);
    const { statusCode } = response;
    const responseBody = await startOf(response.body);
    const succeeded = statusCode >= 200 && statusCode < 300;
    const error = succeeded ? null : `the endpoint answered ${statusCode}`;
    return { succeeded, responseCode: statusCode, responseBody, error };
  } catch (error) {
    return { succeeded: false, responseCode: null, responseBody: null, error: explain(error) };
  }
}

async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, "abort");
  throw signal.reason;
}

/**
 * Returns the start of the body. It is only recorded, so neither the body's length nor its end
 * matters.
 */
async function startOf(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= keptBodyBytes) break;
    }
  } catch {
    // A body that breaks off or never ends does not change the status.
  }
  return Buffer.concat(chunks).subarray(0, keptBodyBytes).toString("utf8");
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "no answer within 10 seconds";
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  return error.message === "" ? code : `${code}: ${error.message}`;
}

import { createHmac } from "node:crypto";
import { request } from "undici";
import { WaysOut } from "../outgoing/ways-out.ts";
import { codeOf, type TryResult } from "./results.ts";

const TIMEOUT_MS = 10_000;

/** The most that is read of a response's body: nothing in it is used. */
const ANSWER_MAX_BYTES = 16_384;

/**
 * Posts notices. Follows no redirects, and uses nothing of a response but its status and
 * `Retry-After`.
 */
export class Poster {
  readonly #ways = new WaysOut({ connections: 4, connectTimeout: TIMEOUT_MS });

  /** @param signing for receivers that check the sender; Slack's address is its own secret */
  async post(
    url: string,
    body: string,
    signing?: { readonly id: string; readonly secrets: readonly string[]; readonly nowMs: number },
  ): Promise<TryResult> {
    try {
      const answer = await request(url, {
        method: "POST",
        dispatcher: this.#ways.to(url),
        signal: AbortSignal.timeout(TIMEOUT_MS),
        headers: {
          "content-type": "application/json",
          "user-agent": "payrun",
          ...(signing === undefined ? {} : signatureHeaders(body, signing)),
        },
        body,
      });
      const { statusCode, headers } = answer;
      await answer.body.dump({ limit: ANSWER_MAX_BYTES }).catch(() => undefined);
      return resultOf(statusCode, headers["retry-after"]);
    } catch (error) {
      const timedOut = error instanceof Error && error.name === "TimeoutError";
      const problem = timedOut
        ? `no answer within ${TIMEOUT_MS / 1_000} s`
        : `can't be reached (${codeOf(error)})`;
      return { kind: "failed", problem, channelDown: true };
    }
  }

  close(): Promise<void> {
    return this.#ways.destroy();
  }
}

function resultOf(status: number, retryAfter: string | string[] | undefined): TryResult {
  if (status >= 200 && status < 300) return { kind: "sent" };
  // Standard Webhooks: 410 means that the receiver wants nothing more.
  if (status === 410) return { kind: "refused", problem: "answered 410: it is gone for good" };
  const hint = status >= 300 && status < 400 ? ": redirects are not followed" : "";
  const seconds = typeof retryAfter === "string" ? Number(retryAfter) : Number.NaN;
  return {
    kind: "failed",
    problem: `answered ${status}${hint}`,
    channelDown: status === 429 || status >= 500,
    ...(Number.isFinite(seconds) && seconds > 0 ? { retryAfterMs: seconds * 1_000 } : {}),
  };
}

/** Returns the headers of Standard Webhooks: one signature for each secret in force. */
function signatureHeaders(
  body: string,
  signing: { readonly id: string; readonly secrets: readonly string[]; readonly nowMs: number },
): Record<string, string> {
  const timestamp = String(Math.floor(signing.nowMs / 1_000));
  const signatures = signing.secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    const signed = `${signing.id}.${timestamp}.${body}`;
    return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  });
  return {
    "webhook-id": signing.id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}

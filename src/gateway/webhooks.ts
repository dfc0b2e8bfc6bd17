import type { Context } from "hono";
import type { Shown } from "../api/shown.ts";
import type { WebhookBody } from "../api/system.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import { inboxEvent, type KeptEvent, parseEvent } from "../events/inbox-event.ts";
import { inTime } from "../process/in-time.ts";
import { judgeSignatureHeader, verifyWebhook } from "../payments-api/webhook-signature.ts";
import type { GatewayContext } from "./http/context.ts";
import { GatewayError, notFound } from "../actions/errors.ts";
import { noteRefusedWebhook } from "./http/refusals.ts";
import { addressOf } from "./http/request.ts";
import { requireJson } from "./http/parts.ts";

/** The service waits ten seconds, and then delivers again whatever the answer is. */
const KEPT_WITHIN_MS = 8_000;

/**
 * Serves `POST /webhooks/{business}`: verifies the event, writes it to the inbox, answers 2xx.
 * Needs only the store, so that events are kept while Temporal is down.
 *
 * A refused request leaves nothing in the inbox.
 */
export async function receiveWebhook(context: GatewayContext, c: Context): Promise<Response> {
  try {
    const answer = await accept(context, c);
    context.metrics.webhooks.inc({ result: answer.duplicate ? "duplicate" : "accepted" });
    return c.json(answer, 200);
  } catch (error) {
    const result = error instanceof GatewayError ? error.code : "failed";
    context.metrics.webhooks.inc({ result });
    throw error;
  }
}

async function accept(context: GatewayContext, c: Context): Promise<Shown<typeof WebhookBody>> {
  const name = c.req.param("business") ?? "";
  const address = addressOf(c, context);
  const profile = context.profiles.get(name);
  if (profile === undefined) {
    await context.rates.address(address);
    throw notFound(`No business is called “${name}” here.`);
  }
  await context.rates.webhook(name, address);
  requireJson(c);
  const rawBody = await readSigned(context, c, profile, address);
  const body = decode(rawBody);
  const event = readEvent(body);
  if (event.businessId !== null && event.businessId !== profile.businessId) {
    await noteRefusedWebhook(context, c, profile, "wrong_business");
    const message = `The event belongs to another business than “${profile.name}”.`;
    throw new GatewayError("wrong_business", message);
  }
  const kept = inboxEvent(profile, event, body, "webhook", context.nowMs());
  const isNew = await inTime(context.inbox.keep(kept), KEPT_WITHIN_MS, undefined);
  if (isNew === undefined) {
    const message = "The store has not taken the event in time: deliver it again.";
    throw new GatewayError("store_busy", message);
  }
  if (isNew) context.wakeDispatcher();
  return { eventId: event.id, duplicate: !isNew };
}

/** Judges what the headers alone say before reading the body. */
async function readSigned(
  context: GatewayContext,
  c: Context,
  profile: BusinessProfile,
  address: string,
): Promise<Uint8Array> {
  const signed = {
    signatureHeader: c.req.header("service-signature"),
    secrets: profile.webhookSecrets,
    nowMs: await signatureClockMs(context, profile),
  };
  const refuse = async (reason: keyof typeof REFUSALS): Promise<never> => {
    await noteRefusedWebhook(context, c, profile, reason);
    throw new GatewayError("invalid_signature", REFUSALS[reason]);
  };
  const header = judgeSignatureHeader(signed);
  if (!header.ok) return refuse(header.reason);
  const rawBody = await context.unproven.read(c, address);
  const verification = verifyWebhook({ ...signed, rawBody });
  return verification.ok ? rawBody : refuse(verification.reason);
}

const REFUSALS = {
  no_secret: "This business has no webhook secret here: set its webhookSecrets.",
  missing_header: "The Service-Signature header is missing.",
  malformed_header: "The Service-Signature header must read “t=<unix seconds>,v1=<hex>”.",
  too_old: "The signature is more than 5 minutes old.",
  too_new: "The signature is dated more than 5 minutes ahead.",
  no_match: "The signature doesn't match the body under any of this business's secrets.",
} as const;

async function signatureClockMs(
  context: GatewayContext,
  profile: BusinessProfile,
): Promise<number> {
  try {
    return (await context.clocks.read(profile)).serviceMs;
  } catch {
    // A sandbox that can't say its time must not cause the event to be lost.
    return context.nowMs();
  }
}

function decode(rawBody: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(rawBody);
  } catch {
    throw new GatewayError("malformed_event", "The body is not UTF-8.");
  }
}

function readEvent(body: string): KeptEvent {
  const event = parseEvent(body);
  if (!event.ok) throw new GatewayError("malformed_event", event.problem);
  return event.event;
}

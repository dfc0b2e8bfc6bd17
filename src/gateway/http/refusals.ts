import { requestRefused, requestUnauthorized, webhookRefused } from "../../domain/facts/access.ts";
import type { Fact } from "../../domain/facts/fact.ts";
import { record } from "../../store/facts/record.ts";
import { webhooksOf } from "../../store/audit/refused-webhooks.ts";
import { coversBusinesses } from "../../domain/approvals/token.ts";
import type { Context } from "hono";
import type { Shown } from "../../api/shown.ts";
import type { ErrorBody } from "../../api/system.ts";
import { definedOnly } from "../../contracts/defined-only.ts";
import { UNKNOWN_SENDER } from "../../contracts/authors.ts";
import { businessOfWorkflow } from "../../contracts/workflow-kinds.ts";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { STORE_TRAIL } from "../../store/audit/audit.ts";
import type { GatewayContext } from "./context.ts";
import { reasonOf } from "../../process/repeat.ts";
import type { Token } from "../../store/approvals/tokens.ts";
import type { Principal } from "../../actions/principal.ts";
import { GatewayError, NotTheirs } from "../../actions/errors.ts";
import { addressOf, routeOf } from "./request.ts";

/** An operation that a caller requested and may not perform. */
export interface RefusedRequest {
  readonly method: string;
  /** OpenAPI form, `/v1/runs/{id}`. */
  readonly path: string;
  /** What the request is about, taken from its address; undefined if the address names nothing. */
  readonly subject: string | undefined;
  /** The business's name if the address has one. */
  readonly business: string | undefined;
}

type Noting = Pick<GatewayContext, "store" | "nowMs" | "metrics" | "refused" | "log" | "proxies">;

/**
 * Records in the store's own trail, and in the log, a request with an invalid token. If the token
 * has ended, the entry names its owner. For an unknown token, the trail has neither the token nor
 * the network address.
 */
export async function noteUnauthorized(
  context: Noting,
  c: Context,
  came: { readonly text: string; readonly token: Token | undefined; readonly why: string },
): Promise<void> {
  const { refused } = context;
  const nowMs = context.nowMs();
  const { text, token: ended, why } = came;
  context.metrics.refused.inc({ why });
  const repeat =
    ended === undefined
      ? refused.unknown.note(refused.nameOf(text), nowMs)
      : refused.ended.note(ended.tokenId, nowMs);
  if (repeat === undefined) return;
  const request = `${c.req.method} ${routeOf(c)}`;
  const { key, times } = repeat;
  const requestId = c.res.headers.get("x-request-id");
  const said = { why, request, token: key, times };
  context.log.warn("refused a token", { ...said, from: addressOf(c, context), requestId });
  const head = { businessId: STORE_TRAIL, nowMs, by: ended?.name ?? UNKNOWN_SENDER, subject: key };
  await append(context, requestUnauthorized(head, said));
}

/**
 * Records in a business's trail, and in the log, a webhook that fails verification: from a forger,
 * or from a service whose secret is not in the settings.
 */
export async function noteRefusedWebhook(
  context: Noting,
  c: Context,
  profile: BusinessProfile,
  why: string,
): Promise<void> {
  const { name } = profile;
  const nowMs = context.nowMs();
  const repeat = context.refused.webhooks.note(`${name} ${why}`, nowMs);
  if (repeat === undefined) return;
  const { times } = repeat;
  context.log.warn("refused a webhook", {
    business: name,
    why,
    times,
    from: addressOf(c, context),
  });
  const head = { businessId: profile.businessId, nowMs, by: UNKNOWN_SENDER };
  await append(context, webhookRefused({ ...head, subject: webhooksOf(name) }, { why, times }));
}

/** Records a refusal. The request is refused even if the trail can't be written. */
async function append({ store, log }: Noting, refusal: Fact): Promise<void> {
  try {
    await store.transactionOf(refusal.businessId, (trx) => record(trx, refusal));
  } catch (error) {
    const { action } = refusal.entry ?? {};
    log.warn("a refusal is not in the trail", { action, reason: reasonOf(error) });
  }
}

/**
 * Records in the audit trail that a known token requested what its roles or its businesses don't
 * allow, as often as `Repeats` says. Decisions write their own refusals.
 */
export async function noteRefused(
  context: GatewayContext,
  principal: Principal,
  refused: RefusedRequest,
  error: unknown,
): Promise<void> {
  const isTheirs = !(error instanceof NotTheirs);
  if (isTheirs && !(error instanceof GatewayError && error.code === "forbidden")) return;
  const { method, path, subject } = refused;
  context.metrics.refused.inc({ why: isTheirs ? "role" : "business" });
  const nowMs = context.nowMs();
  const repeat = context.refused.of(principal.tokenId).note(`${method} ${path}`, nowMs);
  if (repeat === undefined) return;
  const businessId = trailOf(context, refused);
  await context.store.transactionOf(businessId, (trx) =>
    record(
      trx,
      requestRefused(
        { businessId, nowMs, by: principal.name, subject: subject ?? path },
        {
          request: `${method.toUpperCase()} ${path}`,
          roles: principal.roles,
          ...(isTheirs ? {} : { businesses: principal.businesses }),
          times: repeat.times,
        },
      ),
    ),
  );
}

/**
 * Returns the business that a refused request is about; the store's own trail if its address
 * doesn't say.
 */
function trailOf({ profiles }: GatewayContext, { subject, business }: RefusedRequest): string {
  const all = profiles.all();
  const only = all.length === 1 ? all[0] : undefined;
  const name = business ?? businessOfWorkflow(subject ?? "");
  const profile = name === undefined ? only : (profiles.get(name) ?? only);
  return profile?.businessId ?? STORE_TRAIL;
}

/**
 * Refuses a token that is not for every business, and records the refusal.
 *
 * @throws GatewayError 403 with the message
 */
export async function requireAllBusinesses(
  context: GatewayContext,
  principal: Principal,
  of: { readonly method: string; readonly path: string; readonly message: string },
): Promise<void> {
  const all = context.profiles.all().map(({ name }) => name);
  if (coversBusinesses(principal.businesses, all)) return;
  const error = new GatewayError("forbidden", of.message);
  const { method, path } = of;
  await noteRefused(
    context,
    principal,
    { method, path, subject: undefined, business: undefined },
    error,
  );
  throw error;
}

/** Returns the body of the answer to a request that is refused. */
export function errorBody({ code, message, details }: GatewayError): Shown<typeof ErrorBody> {
  return { error: code, message, ...definedOnly({ details }) };
}

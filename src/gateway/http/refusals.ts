import { businessOfWorkflow } from "../../contracts/names.ts";
import { appendAudit, STORE_TRAIL } from "../../store/audit.ts";
import type { GatewayContext } from "../context.ts";
import type { Principal } from "./auth.ts";
import { GatewayError } from "./errors.ts";

/** What somebody asked for and may not do. */
export interface Refused {
  readonly method: string;
  /** OpenAPI form, `/v1/runs/{id}`. */
  readonly path: string;
  /** What it is about, as the address says; undefined for what names nothing. */
  readonly subject: string | undefined;
  /** The business's name, where the address says it. */
  readonly business: string | undefined;
}

/**
 * Writes into the audit trail that a known token asked for what its roles don't allow. Decisions
 * write their own refusals, with what was decided.
 */
export async function noteRefused(
  context: GatewayContext,
  principal: Principal,
  refused: Refused,
  error: unknown,
): Promise<void> {
  if (!(error instanceof GatewayError) || error.code !== "forbidden") return;
  const { method, path, subject } = refused;
  const businessId = trailOf(context, refused);
  await context.store.transactionOf(businessId, (trx) =>
    appendAudit(trx, {
      businessId,
      nowMs: context.nowMs(),
      actor: principal.name,
      action: "request.refused",
      subject: subject ?? path,
      details: { request: `${method.toUpperCase()} ${path}`, roles: principal.roles },
    }),
  );
}

/** The business that it is about; the store's own trail where the address doesn't say. */
function trailOf({ profiles }: GatewayContext, { subject, business }: Refused): string {
  const all = profiles.all();
  const only = all.length === 1 ? all[0] : undefined;
  const name = business ?? businessOfWorkflow(subject ?? "");
  const profile = name === undefined ? only : (profiles.get(name) ?? only);
  return profile?.businessId ?? STORE_TRAIL;
}

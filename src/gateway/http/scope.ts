import { businessOfWorkflow } from "../../contracts/workflow-kinds.ts";
import { actsFor } from "../../domain/approvals/token.ts";
import { STORE_TRAIL } from "../../store/audit/audit.ts";
import { businessNamed } from "../../actions/businesses.ts";
import type { GatewayContext } from "./context.ts";
import { type Caller, requireStillCounts } from "./auth.ts";
import { NotTheirs } from "../../actions/errors.ts";

/** The gateway as one caller may see it. */
export interface ScopedContext extends GatewayContext {
  /**
   * API ids of the businesses that the caller's token is for; undefined if it is for all of them,
   * including businesses that are no longer configured.
   */
  readonly businessIds: readonly string[] | undefined;
}

/**
 * Restricts the gateway to the businesses that a token is for. Each write transaction first checks
 * that the token still counts: a caller whose token was revoked meanwhile, or whose secret was
 * replaced, changes nothing.
 */
export function scopedTo(whole: GatewayContext, caller: Caller): ScopedContext {
  const { businesses } = caller.principal;
  const isTheirs = ({ name }: { readonly name: string }) => actsFor(businesses, name);
  const all = () => whole.profiles.all().filter(isTheirs);
  const context: ScopedContext = {
    ...whole,
    businessIds: businesses === null ? undefined : all().map(({ businessId }) => businessId),
    profiles: {
      all,
      get: (name) => [whole.profiles.get(name)].find((found) => found && isTheirs(found)),
      byBusinessId: (id) =>
        [whole.profiles.byBusinessId(id)].find((found) => found && isTheirs(found)),
    },
    store: {
      ...whole.store,
      transactionOf: (businessId, fn, options) => {
        if (businessId !== STORE_TRAIL) requireTheirs(context, businessId, businessId);
        const checked: typeof fn = async (trx) => {
          await requireStillCounts(whole, caller, trx);
          return fn(trx);
        };
        return whole.store.transactionOf(businessId, checked, options);
      },
    },
  };
  return context;
}

/**
 * Returns the businesses that a list covers: the named one, else the caller's; undefined stands for
 * all.
 */
export function listedFor(
  context: ScopedContext,
  business: string | undefined,
): readonly string[] | undefined {
  if (business !== undefined) return [businessNamed(context, business, "").businessId];
  return context.businessIds;
}

/** Returns the business of the workflow that the path names by its id. */
export async function whoseWorkflow(
  { params }: { readonly params: { readonly id: string } },
  { profiles }: GatewayContext,
): Promise<string | undefined> {
  return profiles.get(businessOfWorkflow(params.id) ?? "")?.businessId;
}

/**
 * @throws GatewayError 404 if it belongs to none of the token's businesses, or its owner is unknown
 */
export function requireTheirs(
  { businessIds }: ScopedContext,
  businessId: string | undefined,
  what: string,
): void {
  if (businessIds === undefined) return;
  if (businessId === undefined || !businessIds.includes(businessId)) throw new NotTheirs(what);
}

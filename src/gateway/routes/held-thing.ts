import type { BusinessProfile } from "../../config/business-profile.ts";
import { approverRoles } from "../../actions/holds/who.ts";
import { businessNamed } from "../../actions/businesses.ts";
import { unprocessable } from "../../actions/errors.ts";
import { thingOfId } from "../../actions/names/find-named.ts";
import type { Named } from "../../actions/names/found.ts";
import { type Principal, requireRole } from "../../actions/principal.ts";
import {
  HOLD_SCOPE,
  HOLD_SCOPES,
  type HoldField,
  type HoldTarget,
  isSetByPayrun,
} from "../../domain/holds.ts";
import type { Hold } from "../../store/holds/holds.ts";
import { getRun } from "../../store/runs/runs.ts";
import { requireTheirs, type ScopedContext } from "../http/scope.ts";
import { MAY } from "./fields.ts";

/** Returns what a request names to be put on hold. */
export function targetsOf(
  body: Readonly<Partial<Record<HoldField, string | true | undefined>>>,
): HoldTarget[] {
  return HOLD_SCOPES.flatMap((scope) => {
    const value = body[HOLD_SCOPE[scope].field];
    return value === undefined ? [] : [{ scope, value: value === true ? "" : value }];
  });
}

/** What a hold is to be set on, and the business that it belongs to. */
export interface HeldThing {
  readonly profile: BusinessProfile;
  /** Undefined if the hold is on everything. */
  readonly thing: Named | undefined;
}

/**
 * Finds what a hold is to be set on, and the business that it belongs to.
 *
 * @throws GatewayError 404 if it is unknown, with the nearest name; 503 if only the service could
 * say
 */
export async function heldThing(
  context: ScopedContext,
  target: HoldTarget,
  business: string | undefined,
): Promise<HeldThing> {
  const { scope, value: id } = target;
  if (scope === "all") {
    const profile = businessNamed(context, business, "add “business” to the hold");
    return { profile, thing: undefined };
  }
  const run = scope === "run" ? await getRun(context.store.db, id) : undefined;
  if (scope === "run") requireTheirs(context, run?.businessId, id);
  const thing = await thingOfId(context, { id, kind: HOLD_SCOPE[scope].kind, business });
  if (scope === "run" && run === undefined) {
    throw unprocessable("no_pay_run", `“${id}” is not a pay run: it has no bills to hold.`);
  }
  return { profile: businessNamed(context, thing.business, ""), thing };
}

/**
 * Returns the roles that may put on hold something of any of the caller's businesses: operators and
 * approvers.
 */
export async function holders(_asked: unknown, context: ScopedContext): Promise<string[]> {
  return [...MAY.operate, ...(await approverRoles(context, context.profiles.all()))];
}

/**
 * @throws GatewayError 403 unless the caller is an operator or an approver of something in this
 * business
 */
export async function requireHolder(
  context: ScopedContext,
  profile: BusinessProfile,
  principal: Principal,
): Promise<void> {
  requireRole(principal, await holdersOf(context, profile));
}

/** Returns the roles that may put something of a business on hold. */
export async function holdersOf(
  context: Pick<ScopedContext, "store">,
  profile: BusinessProfile,
): Promise<string[]> {
  return [...MAY.operate, ...(await approverRoles(context, [profile]))];
}

/** @throws GatewayError 403 if the caller may not lift the hold; the message names who may */
export function requireLifter(
  principal: Principal,
  { author, authorKind, roles }: Hold,
  lifters: readonly string[],
): void {
  const isPersons = roles.length === 0 && !isSetByPayrun({ authorKind });
  requireRole(principal, lifters, isPersons ? `${author}, who has set it, may as well.` : "");
}

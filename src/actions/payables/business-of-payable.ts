import type { BusinessProfile } from "../../config/business-profile.ts";
import { businessesKnowing } from "../../store/payables/businesses-knowing.ts";
import type { ActionContext } from "../context.ts";
import { notFound, unprocessable } from "../errors.ts";
import { businessNamed } from "../businesses.ts";

/**
 * Returns the business that a payable belongs to: one that has planned it or left it out, tried to
 * pay it, claimed it, retried it after a failure, cancelled payments of it or set a hold on it.
 *
 * @throws GatewayError 404 if nothing is known of it, 422 if two businesses know a payable of this
 * id
 */
export async function businessOfPayable(
  context: Pick<ActionContext, "store" | "profiles">,
  payableId: string,
  business: string | undefined,
): Promise<BusinessProfile> {
  const named = business === undefined ? undefined : businessNamed(context, business, "");
  const all = context.profiles.all();
  const ids = all.map(({ businessId }) => businessId);
  const known = await businessesKnowing(context.store.db, payableId, ids);
  const profiles = all.filter(({ businessId }) => known.has(businessId));
  if (named !== undefined && known.has(named.businessId)) return named;
  const [first, second] = profiles;
  if (first === undefined || named !== undefined) {
    const elsewhere = profiles.map(({ name }) => name).join(", ");
    throw notFound(
      `No run has seen a payable “${payableId}”${named === undefined ? "" : ` of ${named.name}`}, and nothing else is known about it. ` +
        (elsewhere === ""
          ? "A bill that no run has planned yet has no history here; otherwise its id is mistyped: it is the one that the service's API gives it."
          : `There is one of ${elsewhere}.`),
    );
  }
  if (second !== undefined) {
    throw unprocessable(
      "business_ambiguous",
      `Several businesses have a payable “${payableId}”: add ?business= (${profiles.map((profile) => profile.name).join(", ")}), or --business on the command line.`,
    );
  }
  return first;
}

import type { BusinessProfile } from "../config/business-profile.ts";
import type { Playbook } from "../contracts/playbook.ts";
import type { GatewayContext } from "./context.ts";
import { unprocessable } from "./http/errors.ts";

/**
 * The business that a playbook pays for: the one it names, or the only one.
 *
 * @throws GatewayError 422
 */
export function businessOf(
  context: Pick<GatewayContext, "profiles">,
  playbook: Pick<Playbook, "name" | "business">,
): BusinessProfile {
  return businessNamed(context, playbook.business, `playbook “${playbook.name}”: add “business:”`);
}

/**
 * @param name null or undefined for the only one
 * @param where says in the error where to name it
 * @throws GatewayError 422
 */
export function businessNamed(
  context: Pick<GatewayContext, "profiles">,
  name: string | null | undefined,
  where: string,
): BusinessProfile {
  const all = context.profiles.all();
  if (name === null || name === undefined) {
    const only = all[0];
    if (only !== undefined && all.length === 1) return only;
    throw unprocessable(
      "business_ambiguous",
      all.length === 0
        ? "No business is configured: set PAYRUN_PROFILES or the PAYMENTS_… settings."
        : `There are several businesses (${all.map((each) => each.name).join(", ")}): say which one (${where}).`,
    );
  }
  const profile = context.profiles.get(name);
  if (profile === undefined) {
    throw unprocessable(
      "business_unknown",
      `No business is called “${name}”; configured: ${all.map((each) => each.name).join(", ") || "none"}.`,
    );
  }
  return profile;
}

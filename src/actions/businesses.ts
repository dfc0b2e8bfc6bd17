import type { BusinessProfile } from "../config/business-profile.ts";
import type { Playbook } from "../contracts/playbook.ts";
import type { ActionContext } from "./context.ts";
import { unprocessable } from "./errors.ts";

/**
 * Returns a playbook with the business that it belongs to: the one that it names, or the only one.
 *
 * @param otherwise the business if the playbook names none
 * @throws GatewayError 422
 */
export function ownedPlaybook(
  context: Pick<ActionContext, "profiles">,
  playbook: Playbook,
  otherwise?: string,
): { profile: BusinessProfile; playbook: Playbook } {
  const where = `playbook “${playbook.name}”: add “business:”`;
  const profile = businessNamed(context, playbook.business ?? otherwise, where);
  if (otherwise !== undefined && otherwise !== profile.name) {
    const message = `The playbook “${playbook.name}” says that it is ${profile.name}'s, not ${otherwise}'s.`;
    throw unprocessable("other_business", message);
  }
  return { profile, playbook: { ...playbook, business: profile.name } };
}

/**
 * Finds a business by its name.
 *
 * @param name null or undefined for the only one
 * @param where says in the error where to name the business
 * @throws GatewayError 422
 */
export function businessNamed(
  context: Pick<ActionContext, "profiles">,
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

/** Returns the business of this name, or all that the caller acts for. */
export function namedOrAll(
  context: Pick<ActionContext, "profiles">,
  name: string | undefined,
): readonly BusinessProfile[] {
  return name === undefined ? context.profiles.all() : [businessNamed(context, name, "")];
}

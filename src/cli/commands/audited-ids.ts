import type { Config } from "../../config.ts";
import { auditedBusinesses } from "../../store/audit/audit-trail.ts";
import { STORE_TRAIL } from "../../store/audit/audit.ts";
import type { Store } from "../../store/index.ts";
import { usageError } from "../terminal/cli-error.ts";

/**
 * Returns the ids of the businesses meant: the one with that profile name, or the id itself if it
 * has a trail. Without a name, returns all that have a trail or a profile, because a trail that
 * Temporal remembers may be gone.
 */
export async function businessIds(
  config: Config,
  store: Store,
  name: string | undefined,
): Promise<readonly string[]> {
  const audited = await auditedBusinesses(store.db);
  const profiles = config.profiles.all();
  if (name === undefined) {
    const all = new Set([...audited, ...profiles.map(({ businessId }) => businessId)]);
    const ofStore = all.delete(STORE_TRAIL) ? [STORE_TRAIL] : [];
    return [...[...all].toSorted(), ...ofStore];
  }
  const profile = config.profiles.get(name);
  if (profile !== undefined) return [profile.businessId];
  if (audited.includes(name)) return [name];
  const known = [...profiles.map((each) => each.name), ...audited];
  throw usageError(`no business is called “${name}”`, `There is ${known.join(", ") || "none"}.`);
}

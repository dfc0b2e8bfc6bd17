import type { StoredPlaybook } from "../../store/playbooks/playbooks.ts";
import { getPlaybook, listPlaybooks } from "../../store/playbooks/playbooks.ts";
import { suggest } from "../../domain/suggest.ts";
import { namedOrAll } from "../businesses.ts";
import type { ActionContext } from "../context.ts";
import { notFound, unprocessable } from "../errors.ts";

type Context = Pick<ActionContext, "store" | "profiles">;

/**
 * Finds the stored playbook of a name, among the businesses that the caller acts for.
 *
 * @param business needed only if several of them have a playbook of that name
 * @throws GatewayError 404 if there is none, 422 if there are several
 */
export async function findPlaybook(
  context: Context,
  { name, business }: { readonly name: string; readonly business?: string | undefined },
): Promise<StoredPlaybook> {
  const among = namedOrAll(context, business);
  const all = await Promise.all(
    among.map((profile) => getPlaybook(context.store.db, { business: profile.name, name })),
  );
  const [found, ...others] = all.flatMap((stored) => stored ?? []);
  if (found === undefined) {
    const known = (await playbooksOf(context, business)).map((each) => each.name);
    const meant = suggest(name, known);
    const guess = meant === undefined ? ";" : `, did you mean ${meant}?`;
    throw notFound(
      `There is no playbook “${name}”${business === undefined ? "" : ` of ${business}`}${guess} “payrun playbook list” lists the stored ones, “payrun apply FILE” stores one.`,
    );
  }
  if (others.length === 0) return found;
  const owners = [found, ...others].map((stored) => stored.business);
  throw unprocessable(
    "business_ambiguous",
    `Several businesses have a playbook “${name}” (${owners.join(", ")}): say which one (“business”, or --business on the command line).`,
  );
}

/**
 * Returns the latest revision of every playbook of one business, or of all that the caller acts
 * for.
 */
export async function playbooksOf(context: Context, business?: string): Promise<StoredPlaybook[]> {
  const among = namedOrAll(context, business);
  const { db } = context.store;
  return (await Promise.all(among.map(({ name }) => listPlaybooks(db, name)))).flat();
}

/** Returns the playbooks with a schedule whose business is no longer configured. */
export async function ownerless({
  store,
  profiles,
  businessIds,
}: Context & { readonly businessIds: readonly string[] | undefined }): Promise<StoredPlaybook[]> {
  if (businessIds !== undefined) return [];
  return (await listPlaybooks(store.db)).filter(
    ({ business, compiled }) => compiled.schedule !== null && profiles.get(business) === undefined,
  );
}

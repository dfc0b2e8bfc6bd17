import type { Db } from "../sql/db.ts";
import { findAll } from "../sql/records.ts";

/**
 * Returns the unconfirmed tokens that any of these people made at or after an instant, and those
 * made with these in turn: they are as good as their makers' own. A token that a second person has
 * confirmed belongs to its holder.
 *
 * @param makers as `principalOf` writes them
 */
export async function tokensMadeBy(
  db: Db,
  makers: readonly string[],
  afterMs: number,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const open = [...makers];
  const asked = new Set<string>();
  for (let maker = open.pop(); maker !== undefined; maker = open.pop()) {
    if (asked.has(maker)) continue;
    asked.add(maker);
    const made = await findAll(db, "tokens", { maker, confirmedAtMs: null }, ["token_id"]);
    for (const token of made.filter(({ createdAtMs }) => createdAtMs >= afterMs)) {
      found.add(token.tokenId);
      open.push(token.principal);
    }
  }
  return found;
}

import type { Db } from "../sql/db.ts";
import { namesOf } from "./names.ts";

/** A funding account as people call it: `Operating ··1234`; by its id where it has no name. */
export async function accountCalled(db: Db, businessId: string, sourceId: string): Promise<string> {
  const called = (await namesOf(db, businessId, "account", [sourceId])).get(sourceId);
  const number = called?.number ?? null;
  return `${called?.name ?? sourceId}${number === null ? "" : ` ··${number}`}`;
}

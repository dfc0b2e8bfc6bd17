import { accountName } from "../../domain/names.ts";
import type { Db } from "../sql/db.ts";
import { namesOf } from "./names.ts";

/** Returns what people call a funding account (`accountName`), from what the store knows of it. */
export async function accountCalled(db: Db, businessId: string, sourceId: string): Promise<string> {
  const called = (await namesOf(db, businessId, "account", [sourceId])).get(sourceId);
  return accountName(sourceId, called ?? { name: null, number: null });
}

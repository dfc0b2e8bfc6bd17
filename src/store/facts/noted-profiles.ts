import type { Transaction } from "kysely";
import { UNKNOWN_SENDER } from "../../contracts/authors.ts";
import type { Tables } from "../schema/tables.ts";
import { profileChanged } from "../../domain/facts/access.ts";
import { record } from "./record.ts";

/** What is noted of a profile, by key; null for what it doesn't set. Never a secret. */
export type NotedProfile = Readonly<Record<string, unknown>>;

/**
 * Adds to a business's trail which keys of its profile have changed, with their values. However
 * many processes read the same changes, in whatever order they note them, the first one does.
 *
 * @param since what the call about the reading before returned: entries after it are about later
 * readings, of this process or others; null for a process's first
 */
export async function noteProfile(
  trx: Transaction<Tables>,
  { businessId, name }: { readonly businessId: string; readonly name: string },
  values: NotedProfile,
  { since, nowMs }: { readonly since: number | null; readonly nowMs: number },
): Promise<number> {
  const subject = `profile/${name}`;
  let query = trx
    .selectFrom("audit")
    .select(["audit_id", "details"])
    .where("business_id", "=", businessId)
    .where("subject", "=", subject)
    .where("action", "=", profileChanged.action)
    .orderBy("audit_id", "desc");
  query = since === null ? query.limit(1) : query.where("audit_id", ">=", since);
  const noted = (await query.execute()).map(({ audit_id: auditId, details }) => {
    const before = (JSON.parse(details) as { readonly values: NotedProfile }).values;
    return { auditId, changed: changedIn(before, values) };
  });
  const [last] = noted;
  const same = noted.findLast(
    ({ auditId, changed }) =>
      changed.length === 0 && (auditId !== since || auditId === last?.auditId),
  );
  if (same !== undefined) return same.auditId;
  // Whoever can write the file has changed it.
  const head = { businessId, nowMs, by: UNKNOWN_SENDER, subject };
  const changed = last?.changed ?? changedIn({}, values);
  await record(trx, profileChanged(head, { changed, values }));
  return last?.auditId ?? 0;
}

function changedIn(before: NotedProfile, values: NotedProfile): string[] {
  return Object.keys({ ...before, ...values })
    .filter((key) => JSON.stringify(before[key] ?? null) !== JSON.stringify(values[key] ?? null))
    .toSorted();
}

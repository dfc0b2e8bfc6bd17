import type { Transaction } from "kysely";
import { asColumns, readerOf, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import { findAll } from "../sql/records.ts";
import type { Tables } from "../schema/tables.ts";

/** One revision of a playbook, as an administrator stored it. */
export type StoredPlaybook = RecordOf<"playbooks">;

/** Identifies a playbook: two businesses may have one of the same name. */
export type PlaybookKey = Pick<StoredPlaybook, "business" | "name">;

const toPlaybook = readerOf("playbooks");

/**
 * Stores a playbook under its name, as the next revision if its text differs from the last.
 *
 * @returns `changed` false if the last revision has the same text: that revision keeps its author
 */
export async function applyPlaybook(
  trx: Transaction<Tables>,
  {
    nowMs,
    confirmedBy,
    ...playbook
  }: Omit<StoredPlaybook, "revision" | "createdAtMs" | "confirmedBy" | "confirmedAtMs"> & {
    readonly nowMs: number;
    /** A second person who has confirmed it. */
    readonly confirmedBy?: string;
  },
): Promise<{ revision: number; changed: boolean }> {
  const last = await getPlaybook(trx, playbook);
  if (last?.text === playbook.text) return { revision: last.revision, changed: false };
  const revision = (last?.revision ?? 0) + 1;
  await trx
    .insertInto("playbooks")
    .values(
      asColumns({
        ...playbook,
        revision,
        createdAtMs: nowMs,
        ...(confirmedBy === undefined ? {} : { confirmedBy, confirmedAtMs: nowMs }),
      }),
    )
    .execute();
  return { revision, changed: true };
}

/** Returns a playbook's latest revision, or the one asked for. */
export async function getPlaybook(
  db: Db,
  { business, name }: PlaybookKey,
  revision?: number,
): Promise<StoredPlaybook | undefined> {
  let query = db
    .selectFrom("playbooks")
    .selectAll()
    .where("business", "=", business)
    .where("name", "=", name);
  if (revision !== undefined) query = query.where("revision", "=", revision);
  const row = await query.orderBy("revision", "desc").limit(1).executeTakeFirst();
  return row === undefined ? undefined : toPlaybook(row);
}

/**
 * Returns who wrote the revision that a run was launched with, and those before it, back to the
 * last one that a second person confirmed. That one's author is included, its confirmer is not.
 */
export async function authorsOf(
  db: Db,
  run: Pick<RecordOf<"runs">, "business" | "playbook" | "playbookRevision">,
): Promise<string[]> {
  const known = await playbookRevisions(db, { business: run.business, name: run.playbook });
  const upTo = known.filter(({ revision }) => revision <= run.playbookRevision);
  const confirmed = upTo.findIndex(({ confirmedAtMs }) => confirmedAtMs !== null);
  const since = confirmed < 0 ? upTo : upTo.slice(0, confirmed + 1);
  return [...new Set(since.map(({ author }) => author))];
}

/** True if the playbook of this name, as it is in force, pays bills. */
export async function isPayRun(db: Db, key: PlaybookKey): Promise<boolean> {
  return (await getPlaybook(db, key))?.compiled.kind === "pay-run";
}

/** Returns the latest revision of every playbook, by name; of one business only if it is given. */
export async function listPlaybooks(db: Db, business?: string): Promise<StoredPlaybook[]> {
  let query = db
    .selectFrom("playbooks")
    .selectAll("playbooks")
    .where((eb) =>
      eb(
        "playbooks.revision",
        "=",
        eb
          .selectFrom("playbooks as all")
          .select((of) => of.fn.max("all.revision").as("latest"))
          .whereRef("all.business", "=", "playbooks.business")
          .whereRef("all.name", "=", "playbooks.name"),
      ),
    );
  if (business !== undefined) query = query.where("playbooks.business", "=", business);
  const rows = await query.orderBy("playbooks.name").execute();
  return rows.map(toPlaybook);
}

/** Returns all revisions of a playbook, latest first. */
export async function playbookRevisions(
  db: Db,
  { business, name }: PlaybookKey,
): Promise<StoredPlaybook[]> {
  return (await findAll(db, "playbooks", { business, name }, ["revision"])).toReversed();
}

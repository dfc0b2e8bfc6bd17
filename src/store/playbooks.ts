import type { Selectable, Transaction } from "kysely";
import type { Playbook } from "../contracts/playbook.ts";
import type { Db } from "./db.ts";
import type { PlaybooksTable, Tables } from "./tables.ts";

/** One revision of a playbook, as an administrator stored it. */
export interface StoredPlaybook {
  readonly name: string;
  /** 1, 2, … */
  readonly revision: number;
  readonly kind: string;
  /** Profile name of the business, or null for the only one. */
  readonly business: string | null;
  /** The file as it was. */
  readonly text: string;
  readonly compiled: Playbook;
  /** Who stored it: they don't count as an approver of its runs. */
  readonly author: string;
  readonly authorTokenId: string | null;
  readonly createdAtMs: number;
}

/**
 * Stores a playbook under its name, as the next revision where its text differs from the last.
 *
 * @returns `changed` false where the last revision has the same text: it stays its author's.
 */
export async function applyPlaybook(
  trx: Transaction<Tables>,
  playbook: {
    readonly name: string;
    readonly kind: string;
    readonly text: string;
    readonly compiled: Playbook;
    readonly business: string | null;
    readonly author: string;
    readonly authorTokenId: string | null;
    readonly nowMs: number;
  },
): Promise<{ revision: number; changed: boolean }> {
  const last = await getPlaybook(trx, playbook.name);
  if (last?.text === playbook.text) return { revision: last.revision, changed: false };
  const revision = (last?.revision ?? 0) + 1;
  await trx
    .insertInto("playbooks")
    .values({
      name: playbook.name,
      revision,
      kind: playbook.kind,
      business: playbook.business,
      text: playbook.text,
      compiled: JSON.stringify(playbook.compiled),
      author: playbook.author,
      author_token_id: playbook.authorTokenId,
      created_at_ms: playbook.nowMs,
    })
    .execute();
  return { revision, changed: true };
}

/** A playbook's latest revision, or the one asked for. */
export async function getPlaybook(
  db: Db,
  name: string,
  revision?: number,
): Promise<StoredPlaybook | undefined> {
  let query = db.selectFrom("playbooks").selectAll().where("name", "=", name);
  if (revision !== undefined) query = query.where("revision", "=", revision);
  const row = await query.orderBy("revision", "desc").limit(1).executeTakeFirst();
  return row === undefined ? undefined : toPlaybook(row);
}

/** True where the playbook of this name, as it is in force, pays bills. */
export async function isPayRun(db: Db, name: string): Promise<boolean> {
  return (await getPlaybook(db, name))?.compiled.kind === "pay-run";
}

/** The latest revision of every playbook, by name. */
export async function listPlaybooks(db: Db): Promise<StoredPlaybook[]> {
  const rows = await db
    .selectFrom("playbooks")
    .selectAll("playbooks")
    .where((eb) =>
      eb(
        "playbooks.revision",
        "=",
        eb
          .selectFrom("playbooks as all")
          .select((of) => of.fn.max("all.revision").as("latest"))
          .whereRef("all.name", "=", "playbooks.name"),
      ),
    )
    .orderBy("playbooks.name")
    .execute();
  return rows.map(toPlaybook);
}

/** All revisions of a playbook, latest first. */
export async function playbookRevisions(db: Db, name: string): Promise<StoredPlaybook[]> {
  const rows = await db
    .selectFrom("playbooks")
    .selectAll()
    .where("name", "=", name)
    .orderBy("revision", "desc")
    .execute();
  return rows.map(toPlaybook);
}

function toPlaybook(row: Selectable<PlaybooksTable>): StoredPlaybook {
  return {
    name: row.name,
    revision: row.revision,
    kind: row.kind,
    business: row.business,
    text: row.text,
    compiled: JSON.parse(row.compiled) as Playbook,
    author: row.author,
    authorTokenId: row.author_token_id,
    createdAtMs: row.created_at_ms,
  };
}

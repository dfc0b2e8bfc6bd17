import { createHash } from "node:crypto";
import type { Transaction } from "kysely";
import { asColumns, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import type { PlaybookKey } from "./playbooks.ts";
import { deleteRecords, findOne } from "../sql/records.ts";
import type { Tables } from "../schema/tables.ts";

/** A playbook's text that waits for a second person. */
export type PlaybookProposal = RecordOf<"playbook_proposals">;

/** Stores what a person proposes, in place of what was proposed before. */
export async function proposePlaybook(
  trx: Transaction<Tables>,
  proposal: PlaybookProposal,
): Promise<void> {
  await endProposal(trx, proposal);
  await trx.insertInto("playbook_proposals").values(asColumns(proposal)).execute();
}

export function getProposal(
  db: Db,
  { business, name }: PlaybookKey,
): Promise<PlaybookProposal | undefined> {
  return findOne(db, "playbook_proposals", { business, name });
}

export async function endProposal(
  trx: Transaction<Tables>,
  { business, name }: PlaybookKey,
): Promise<void> {
  await deleteRecords(trx, "playbook_proposals", { business, name });
}

/** Returns the SHA-256 of a playbook's text in hexadecimal, as `sha256sum FILE` prints it. */
export function textHash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

import { recordsConfirmed } from "../domain/facts/decisions.ts";
import type { PlanLine } from "../contracts/pay-run.ts";
import { rolesOfLine } from "../domain/approvals/changed-records.ts";
import { recordKey } from "../domain/vendor-account.ts";
import { refusalOfPerson } from "../domain/approvals/policy.ts";
import { neededIn, type StageApproval } from "../domain/approvals/stages.ts";
import { principalOf } from "../contracts/principal.ts";
import { isAsWritten, listAudit } from "../store/audit/audit.ts";
import type { Run } from "../store/runs/runs.ts";
import type { Db } from "../store/sql/db.ts";
import { findEach } from "../store/sql/records.ts";
import { hurryAt } from "./hurry.ts";
import { peopleOf, type RunPeople } from "./run-people.ts";

/** What a person has said, as the trail has it: what only the store has doesn't count. */
export interface Confirmation {
  /** Run in which it was said. */
  readonly runId: string;
  readonly atMs: number;
  readonly principal: string;
  readonly tokenId: string;
  readonly roles: readonly string[];
  readonly singlePerson: boolean;
  readonly comment?: string;
  /** Business-clock instant and zone in which it was said; missing if it was signed. */
  readonly businessMs?: number;
  readonly zone?: string;
  /** How it was hurried, as the playbook of its own run means it; missing if it wasn't. */
  readonly hurry?: string;
  readonly records: readonly { readonly contactId: string; readonly record: string }[];
}

/** The answers about vendors' changed records that count in a run, whatever run they were given in. */
export interface ConfirmedRecords {
  /** First to last. */
  readonly said: readonly Confirmation[];
  /**
   * True if an approver of the line has said that the account of this record is still right, or two
   * have, because the run's playbook calls a word hurried and asks for another person then.
   */
  readonly covers: (
    line: Pick<PlanLine, "contactId"> & Parameters<typeof rolesOfLine>[0],
    escalated: number | null,
    updatedAt: string | null,
  ) => boolean;
}

/**
 * Reads what people have said about the records of these vendors, as far as it counts in a run.
 *
 * @param now what a person says now, which is not stored yet
 */
export async function confirmedRecords(
  db: Db,
  run: Run | undefined,
  contactIds: readonly string[],
  now: readonly Confirmation[] = [],
): Promise<ConfirmedRecords> {
  if (run === undefined) return NOTHING_SAID;
  const said = [...(await confirmationsOf(db, run.businessId, contactIds)), ...now];
  if (said.length === 0) return NOTHING_SAID;
  const runPeople = await peopleOf(db, run);
  const counting = said.filter((each) => countsIn(runPeople, each));
  const words = new Map<string, Word[]>();
  for (const each of counting) {
    const { roles } = each;
    const principal = principalOf(each.principal);
    const word = { stage: 0, principal, roles, hurried: await asksAnother(db, run, each) };
    for (const { contactId, record } of each.records) {
      const key = `${contactId} ${record}`;
      words.set(key, [...(words.get(key) ?? []), word]);
    }
  }
  return {
    said: counting,
    covers: (line, escalated, updatedAt) => {
      const roles = rolesOfLine(line, escalated);
      const given = (words.get(`${line.contactId} ${recordKey(updatedAt)}`) ?? []).filter((word) =>
        word.roles.some((role) => roles.includes(role)),
      );
      // A person's first word counts: saying it again later replaces no other person.
      const people = new Map(given.toReversed().map((word) => [word.principal, word]));
      return people.size >= neededIn(1, [...people.values()]);
    },
  };
}

const NOTHING_SAID: ConfirmedRecords = { said: [], covers: () => false };

interface Word extends StageApproval {
  readonly roles: readonly string[];
}

/** True if the run's playbook asks for another person beside this word, in whatever run it was said. */
async function asksAnother(
  db: Db,
  run: Run,
  { atMs: nowMs, businessMs, zone }: Confirmation,
): Promise<boolean> {
  if (run.policy.hurry?.needsAnother !== true || businessMs === undefined) return false;
  return (await hurryAt(db, run, { nowMs, businessMs, zone })) !== null;
}

async function confirmationsOf(
  db: Db,
  businessId: string,
  contactIds: readonly string[],
): Promise<Confirmation[]> {
  if (contactIds.length === 0) return [];
  const ids = [...new Set(contactIds)];
  const rows = await findEach(db, "confirmed_records", { businessId }, "contact_id", ids);
  const subject = [...new Set(rows.map(({ runId }) => runId))];
  if (subject.length === 0) return [];
  const entries = await listAudit(db, { businessId, subject, actions: [recordsConfirmed.action] });
  const wanted = new Set(ids);
  return entries.filter(isAsWritten).flatMap((entry) => {
    const details = entry.details as unknown as Omit<Confirmation, "runId" | "atMs" | "principal">;
    const records = details.records.filter(({ contactId }) => wanted.has(contactId));
    // In the same run, people have also answered about other vendors alone.
    if (records.length === 0) return [];
    const { subject: runId, atMs, actor: principal } = entry;
    return [{ ...details, runId, atMs, principal, records }];
  });
}

/** True if what a person said counts in a run: its launchers' and authors' own word doesn't. */
export function countsIn(
  { launchers, playbookAuthors, theirTokens }: RunPeople,
  said: Pick<Confirmation, "principal" | "tokenId" | "roles" | "singlePerson">,
): boolean {
  const { principal: name, tokenId, roles, singlePerson } = said;
  const token = { name, roles, isLaunchers: theirTokens.has(tokenId) };
  const decision = { kind: "approve" } as const;
  return (
    refusalOfPerson({ token, run: { launchers }, playbookAuthors, singlePerson, decision }) ===
    undefined
  );
}

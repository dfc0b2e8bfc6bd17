import type { ActionContext } from "../../actions/context.ts";
import type { Principal } from "../../actions/principal.ts";
import type { RunReview } from "../../api/review.ts";
import { type BillSum, NOTHING, plus } from "../../domain/counted.ts";
import { countsIn } from "../../ledger/confirmed-records.ts";
import { peopleOf } from "../../ledger/run-people.ts";
import { answerableBy, askedRecords } from "../../store/lines/asked-records.ts";
import { namesOf } from "../../store/names/names.ts";
import type { Run } from "../../store/runs/runs.ts";

/** Returns the vendors of a run of whom this person may say that the account is still right. */
export async function changedRecordsFor(
  { store: { db }, profiles }: Pick<ActionContext, "store" | "profiles">,
  run: Run,
  { name: principal, tokenId, roles }: Principal,
): Promise<RunReview["changedRecords"]> {
  const { runId, businessId, policy } = run;
  const mine = answerableBy(policy, await askedRecords(db, runId), roles);
  const singlePerson = profiles.get(run.business)?.singlePerson === true;
  const said = { principal, tokenId, roles, singlePerson };
  if (mine.length === 0 || !countsIn(await peopleOf(db, run), said)) return [];
  const ids = mine.map(({ contactId }) => contactId);
  const names = await namesOf(db, businessId, "vendor", ids);
  const records = Map.groupBy(mine, ({ contactId, record }) => `${contactId} ${record}`);
  return [...records.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { contactId, record, reason } = first;
    return {
      ...group.reduce<BillSum>(plus, NOTHING),
      contactId,
      contactName: names.get(contactId)?.name ?? null,
      updatedAt: record === "" ? null : record,
      text: reason ?? "",
    };
  });
}

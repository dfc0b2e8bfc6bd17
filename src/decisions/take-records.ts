import { recordsConfirmed, wordRefused } from "../domain/facts/decisions.ts";
import { record } from "../store/facts/record.ts";
import { randomUUID } from "node:crypto";
import type { Transaction } from "kysely";
import { definedOnly } from "../contracts/defined-only.ts";
import type { LineState } from "../contracts/line-states.ts";
import { type ConfirmedRecord, rolesAskedOf } from "../domain/approvals/changed-records.ts";
import { recordKey } from "../domain/vendor-account.ts";
import { type DecisionVerdict, refuse, refusalOfPerson } from "../domain/approvals/policy.ts";
import { type BillSum, counted, NOTHING, plus, waits } from "../domain/counted.ts";
import { formatUsd, sumCents } from "../domain/money.ts";
import { confirmedRecords } from "../ledger/confirmed-records.ts";
import type { Tables } from "../store/index.ts";
import {
  answerableBy,
  type AskedRecord,
  askedRecords,
  endAsking,
  keepAnswer,
  linesAskingAbout,
} from "../store/lines/asked-records.ts";
import { getRun } from "../store/runs/runs.ts";
import { askingFreshSignIn, type Deciding, judgedBy, recordRefused } from "./deciding.ts";
import { hurryIn, notifyOfHurry } from "./hurry.ts";
import type { DecisionAnswer, DecisionRefusal } from "./take.ts";

/**
 * Judges and stores an approver's word that the accounts of vendors are still right, although their
 * records were changed after the approval. It is about no bill's approval.
 *
 * An answer counts for its vendor and record, in every run of the business whose line's approver
 * the person is, unless they launched it. Records that were changed again since are asked about
 * anew.
 */
export async function takeRecords(
  trx: Transaction<Tables>,
  deciding: Deciding,
  wanted: readonly ConfirmedRecord[],
): Promise<DecisionAnswer | DecisionRefusal> {
  const { run } = deciding;
  const asked = await askedRecords(trx, run.runId);
  const mine = answerableBy(run.policy, asked, deciding.principal.roles);
  const keys = new Set(wanted.map((each) => keyOf({ ...each, record: recordKey(each.updatedAt) })));
  const confirmed = mine.filter((each) => keys.has(keyOf(each)));
  const judged = await judge(trx, deciding, { wanted, asked, mine, confirmed });
  const cents = sumCents(confirmed.map((each) => each.cents));
  const verdict = askingFreshSignIn(deciding, judged, cents);
  if (!verdict.accepted) {
    await recordRefused(trx, deciding, verdict, run.runId, wordRefused);
    return verdict;
  }
  return answer(trx, deciding, wanted, await keep(trx, deciding, distinct(confirmed)));
}

const keyOf = ({ contactId, record }: Pick<AskedRecord, "contactId" | "record">): string =>
  `${contactId} ${record}`;

function distinct(asked: readonly AskedRecord[]): AskedRecord[] {
  return [...new Map(asked.map((each) => [keyOf(each), each])).values()];
}

async function judge(
  trx: Transaction<Tables>,
  deciding: Deciding,
  of: {
    readonly wanted: readonly ConfirmedRecord[];
    readonly asked: readonly AskedRecord[];
    readonly mine: readonly AskedRecord[];
    readonly confirmed: readonly AskedRecord[];
  },
): Promise<DecisionVerdict> {
  const { run, request } = deciding;
  if (request.decision === "reject") {
    return refuse(
      "not_rejectable",
      "an account that isn't right is no rejection: hold the vendor (payrun hold --contact), or leave its bills out",
    );
  }
  const who = refusalOfPerson({
    ...(await judgedBy(trx, deciding)),
    decision: { kind: "approve" },
  });
  if (who !== undefined) return who;
  if (of.confirmed.length > 0) return { accepted: true, countsFor: [], dropped: [] };
  const contacts = new Set(of.wanted.map(({ contactId }) => contactId));
  const about = of.asked.filter(({ contactId }) => contacts.has(contactId));
  if (about.length === 0) {
    return refuse("nothing_left", "nobody is asked about these vendors' records in this run");
  }
  const inTime = about.filter((each) => of.mine.includes(each));
  if (inTime.length > 0) {
    return refuse(
      "stale_record",
      "the record was changed again since you saw it; read the run again and look at the vendor",
    );
  }
  const asked = about.flatMap(({ ruleIndex, escalated }) =>
    rolesAskedOf(run.policy.approve[ruleIndex], escalated),
  );
  const roles = [...new Set(asked)].sort();
  return refuse("role_missing", `this takes one of the roles ${roles.join(", ")}`);
}

interface Kept {
  readonly records: readonly AskedRecord[];
  readonly lines: Awaited<ReturnType<typeof endAsking>>;
  /** How the word was hurried, as the run's playbook means it; null if it wasn't. */
  readonly hurry: string | null;
}

/**
 * Stores the answer, and ends the question in every run in which the answer counts, and is enough.
 */
async function keep(
  trx: Transaction<Tables>,
  deciding: Deciding,
  records: readonly AskedRecord[],
): Promise<Kept> {
  const { run, request, principal, singlePerson = false, clock, nowMs, proof } = deciding;
  const { businessId } = run;
  const { tokenId, roles } = principal;
  const when =
    proof === undefined ? definedOnly({ businessMs: clock.businessMs, zone: clock.zone }) : {};
  const said = { tokenId, roles, singlePerson, ...when };
  const word = { runId: run.runId, atMs: nowMs, principal: principal.name, ...said, records };
  const hurry = await hurryIn(trx, deciding);
  const contactIds = records.map(({ contactId }) => contactId);
  const decisionId = `dec_${randomUUID()}`;
  const answer = { decisionId, businessId, runId: run.runId, tokenId, decidedAtMs: nowMs };
  await keepAnswer(trx, answer, records);
  const lines = [];
  const asking = Map.groupBy(
    await linesAskingAbout(trx, businessId, records),
    (line) => line.runId,
  );
  for (const [runId, own] of asking) {
    const its = await getRun(trx, runId);
    if (its === undefined) continue;
    const { covers } = await confirmedRecords(trx, its, contactIds, [word]);
    const right = own.filter(({ contactId, record, ruleIndex, escalated }) => {
      const rule = its.policy.approve[ruleIndex];
      if (rule === undefined) return false;
      const { by: approvers, stages } = rule;
      return covers({ contactId, approvers, stages }, escalated, record);
    });
    const ids = right.map(({ payableId }) => payableId);
    lines.push(...(await endAsking(trx, runId, ids, nowMs)));
  }
  await record(
    trx,
    recordsConfirmed(
      { businessId, nowMs, by: principal.name, subject: run.runId },
      {
        decisionId,
        ...said,
        lines: lines.length,
        records: records.map(({ contactId, record: of }) => ({ contactId, record: of })),
        ...(hurry === null ? {} : { hurry }),
        ...(request.comment === undefined ? {} : { comment: request.comment }),
        ...proof,
      },
      { runIds: [...asking.keys()] },
    ),
  );
  if (hurry !== null) await notifyOfHurry(trx, deciding, { decisionId, hurry });
  return { records, lines, hurry };
}

async function answer(
  trx: Transaction<Tables>,
  { run }: Deciding,
  wanted: readonly ConfirmedRecord[],
  { records, lines, hurry }: Kept,
): Promise<DecisionAnswer> {
  const sumOf = (...states: LineState[]) =>
    lines
      .filter(({ state }) => states.includes(state))
      .reduce<BillSum>((sum, { cents }) => plus(sum, { count: 1, cents }), NOTHING);
  const goesOut = sumOf("awaiting-approval", "retrying");
  const effects = [
    [goesOut, "goes on", "go on"],
    [sumOf("scheduled", "held"), "is scheduled already", "are scheduled already"],
    [sumOf("on-hold"), "stays on hold", "stay on hold"],
  ] as const;
  const does = effects
    .filter(([{ count }]) => count > 0)
    .map(([{ count, cents }, one, several]) => {
      return `${counted(count, "bill")} of ${formatUsd(cents)} ${count === 1 ? one : several}`;
    });
  const left = new Set(wanted.map(({ contactId }) => contactId)).size - records.length;
  const open = await askedRecords(trx, run.runId);
  const said = new Set(records.map(keyOf));
  const again = open.filter((each) => said.has(keyOf(each))).reduce<BillSum>(plus, NOTHING);
  const summary = [
    `The ${records.length === 1 ? "account of 1 vendor is" : `accounts of ${counted(records.length, "vendor")} are`} still right${does.length === 0 ? "" : `: ${does.join(", ")}`}.`,
    ...(left > 0
      ? [`${counted(left, "vendor")} of those named: changed again since, or not yours.`]
      : []),
    ...(again.count > 0
      ? [
          `${counted(again.count, "bill")} ${waits(again.count)} for another person to say so too${hurry === null ? "" : `, because you said it ${hurry}`}.`,
        ]
      : []),
    ...(open.some((each) => !said.has(keyOf(each)))
      ? ["Other vendors' records are still asked about."]
      : []),
  ].join(" ");
  return {
    accepted: true,
    decision: "approve",
    dropped: [],
    goesOut,
    onHold: NOTHING,
    missing: [],
    countsFor: lines.map(({ payableId }) => payableId),
    summary,
  };
}

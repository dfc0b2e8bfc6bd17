import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { depositSubject } from "../../src/contracts/names.ts";
import type { TopUpAccount, TopUpTerms } from "../../src/contracts/deposit.ts";
import { topUpHash } from "../../src/domain/approvals/hashes.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { topUpNeeded } from "../../src/domain/notices/top-up-texts.ts";
import { judgeShortage } from "../../src/domain/deposits/terms.ts";
import { raiseNotice } from "../../src/store/notices/notices.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import {
  type TopUpRequested,
  changeAsked,
  insertTopUp,
  moveTopUp,
  noteTopUp,
  type TopUp,
  topUpsOf,
} from "../../src/store/deposits/deposits.ts";
import { type Demand, demandOf, type Needed } from "./demand.ts";

/** The present instant, on the business clock and in real time. */
type Moment = Pick<ClockReading, "businessMs" | "realMs">;

/** What is requested now; `problem` if money is missing and no deposit can be requested. */
export interface Reviewed {
  readonly topUp?: TopUp;
  readonly problem?: string;
  /** True if the money there may just be changing, so that nothing was brought up to date. */
  readonly isUncertain?: boolean;
}

/**
 * Brings a workflow's request up to date with what the workflow needs: the same amount stays
 * requested, another amount is requested anew, and a request that is covered by now is withdrawn.
 *
 * If the figure is uncertain, everything stays as it is.
 *
 * One request of a workflow is open at a time, so that a shortage is never made good twice. A
 * deposit that has been sent is left alone here.
 */
export async function reviewTopUp(
  trx: Transaction<Tables>,
  needed: Needed,
  clock: Moment,
): Promise<Reviewed> {
  const { from } = needed;
  const demand = await demandOf(trx, needed, clock);
  if (demand === undefined) return {};
  const { businessId, business, sourceId, owner, policyRunId } = demand;
  const made = (await topUpsOf(trx, owner)).filter((each) => each.sourceId === sourceId);
  const last = made.at(-1);
  if (last?.state === "sending" || last?.state === "on-its-way") return { topUp: last };
  if (last?.state === "refused") return { problem: last.reason ?? "it was refused" };
  const open = last?.state === "proposed" ? last : undefined;
  // People aren't asked about a figure that the next look may correct.
  if (!demand.certain) return open === undefined ? {} : { topUp: open, isUncertain: true };
  const today = newYorkDate(clock.businessMs);
  const sameDayCents = from.kind === "account" ? from.sameDayCents : 0;
  const shortage = judgeShortage({ ...demand, sameDayCents, today });
  if (shortage.kind === "covered") {
    if (open !== undefined) await withdrawTopUp(trx, open, "The money is there by now.", clock);
    return {};
  }
  if (shortage.kind === "above-limit" || from.kind === "none") {
    const problem =
      from.kind === "none" ? from.reason : "more is missing than the playbook lets people deposit";
    if (open !== undefined) await withdrawTopUp(trx, open, `No deposit: ${problem}.`, clock);
    return { problem };
  }
  const requestNo = open?.requestNo ?? made.length + 1;
  const subject = depositSubject(sourceId, owner, requestNo);
  const asked = askedFor(demand, subject, shortage.terms, from.account);
  if (open?.hash === asked.hash) {
    if (!sameTerms(open, asked)) await changeAsked(trx, open, asked, clock.realMs);
    return { topUp: { ...open, ...asked } };
  }
  if (open !== undefined) await changeAsked(trx, open, asked, clock.realMs);
  const topUp: TopUp =
    open === undefined
      ? await insertTopUp(trx, {
          ...asked,
          businessId,
          business,
          sourceId,
          owner,
          policyRunId,
          subject,
          requestNo,
          sinceMs: clock.businessMs,
          nowMs: clock.realMs,
        })
      : { ...open, ...asked };
  await record(trx, topUp, open === undefined ? "proposed" : "changed", clock);
  const before = open === undefined ? (last?.reason ?? null) : null;
  await notifyNeeded(trx, topUp, before, clock);
  return { topUp };
}

function askedFor(
  demand: Demand,
  subject: string,
  terms: TopUpTerms,
  account: TopUpAccount,
): TopUpRequested {
  const { businessId, planHash, rule } = demand;
  return {
    ...terms,
    account,
    planHash,
    approvers: rule.by,
    quorum: rule.quorum,
    hash: topUpHash({ businessId, subject, account, amountCents: terms.amountCents, planHash }),
  };
}

function sameTerms(a: TopUpTerms, b: TopUpTerms): boolean {
  return (
    a.neededOn === b.neededOn &&
    a.makeBy === b.makeBy &&
    a.arrivesOn === b.arrivesOn &&
    a.late === b.late
  );
}

/** Withdraws a request that was never sent. */
export async function withdrawTopUp(
  trx: Transaction<Tables>,
  topUp: TopUp,
  reason: string,
  clock: Moment,
): Promise<void> {
  const change = { state: "withdrawn", reason, sinceMs: clock.businessMs } as const;
  await moveTopUp(trx, topUp, ["proposed"], change, { action: "withdrawn", reason }, clock.realMs);
}

async function record(
  trx: Transaction<Tables>,
  topUp: TopUp,
  action: "proposed" | "changed",
  clock: Moment,
): Promise<void> {
  const { account, amountCents, hash, makeBy, neededOn, planHash, quorum, approvers } = topUp;
  const terms = { amountCents, fromLast4: account.last4, hash, planHash, makeBy, neededOn };
  const details = { ...terms, quorum, approvers };
  await noteTopUp(trx, topUp, { action, ...details }, clock.realMs);
}

async function notifyNeeded(
  trx: Transaction<Tables>,
  topUp: TopUp,
  before: string | null,
  clock: Moment,
): Promise<void> {
  const { amountCents, approvers, hash, makeBy, owner } = topUp;
  await raiseNotice(trx, {
    businessId: topUp.businessId,
    kind: "top-up-needed",
    factKey: `${topUp.subject}/${hash}`,
    ...topUpNeeded(topUp, before),
    roles: approvers,
    data: { id: owner, amountCents, hash, makeBy },
    runId: owner,
    nowMs: clock.realMs,
  });
}

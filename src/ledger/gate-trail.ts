import { trailAndStoreDiffer } from "../domain/facts/requests.ts";
import { record } from "../store/facts/record.ts";
import type { Transaction } from "kysely";
import { byWorkflow, PAYRUN } from "../contracts/authors.ts";
import { cancelSubject, holdSubject } from "../contracts/names.ts";
import { principalOf } from "../contracts/principal.ts";
import { holdsOfCancellation } from "../domain/cancellations/holds-of-cancellation.ts";
import {
  HOLD_SCOPE,
  HOLD_SCOPES,
  type HoldFacts,
  type HoldScopeName,
  type HoldTarget,
} from "../domain/holds.ts";
import { differenceOfTopUp } from "../store/deposits/deposit-in-trail.ts";
import { differenceOfRun } from "../store/runs/launch-in-trail.ts";
import type { Run } from "../store/runs/runs.ts";
import { jsonHash } from "../store/audit/audit-said.ts";
import { partOf } from "../store/audit/audit-lines.ts";
import { APPROVAL_GIVEN, type AuditEntry, isAsWritten, listAudit } from "../store/audit/audit.ts";
import { approvalsIn, type Given, isApprovedInTrail } from "./approvals-in-trail.ts";
import type { CancellationItem } from "../store/cancellations/cancellation-items.ts";
import { type Cancellation, CANCELLATION_REQUESTED } from "../store/cancellations/cancellations.ts";
import type { TopUp } from "../store/deposits/deposits.ts";
import { runsNotRefusing } from "../store/approvals/decided-before.ts";
import { createHold, type Hold } from "../store/holds/holds.ts";
import type { Tables } from "../store/schema/tables.ts";
import { databaseNowMs } from "../store/sql/database-clock.ts";

/** A line of a run that everything in the store lets go. */
export interface LineToLetGo extends HoldFacts {
  /** Its place in the plan. */
  readonly lineNo: number;
  readonly lineHash: string;
  /** How many people each stage needs, by the plan's line, which its hash covers. */
  readonly quorums: readonly number[];
}

interface HoldDetails {
  readonly holdId: string;
  readonly scope: HoldScopeName;
  readonly value: string;
  readonly reason: string;
  /** ISO instant on the business clock; null for none. */
  readonly until: string | null;
}

const HOLDS = ["hold.created", "hold.released", "hold.ended"];
const STOPS = ["run.rejected", "run.cancel-requested"];

/**
 * Compares lines that the store lets go with the trail, where every decision and hold is an entry
 * of its own transaction: who can write to the store's tables alone gets nothing paid. Each
 * approval that counts must be there, and nothing that forbids the payment. The entries are read
 * once for all lines, since neighboring lines share those of a decision.
 *
 * A difference puts the run on hold and notifies operators. @returns the reasons, by payable
 */
export async function forbiddenByTrail(
  trx: Transaction<Tables>,
  businessId: string,
  lines: readonly LineToLetGo[],
  { businessMs, isRetry }: { readonly businessMs: number; readonly isRetry: boolean },
): Promise<ReadonlyMap<string, string>> {
  const [first] = lines;
  if (first === undefined) return new Map();
  const { runId } = first;
  const payableIds = lines.map(({ payableId }) => payableId);
  const places = lines.flatMap((line) => [line.payableId, partOf(runId, line.lineNo)]);
  const holdable = lines.map(holdSubjectsOf);
  const unrefused = isRetry ? await runsNotRefusing(trx, businessId, payableIds) : [];
  const others = unrefused.filter((other) => other.runId !== runId);
  const entries = await listAudit(trx, {
    businessId,
    subject: [
      ...new Set([runId, ...others.map((other) => other.runId), ...places, ...holdable.flat()]),
    ],
    actions: [APPROVAL_GIVEN, "run.approved", ...STOPS, ...HOLDS],
  });
  const ofRun = entries.filter(({ subject }) => subject === runId);
  const stopped = stopIn(ofRun);
  const dropped = new Set(ofRun.flatMap(droppedIn));
  const given = approvalsIn(entries, runId, new Set(payableIds));
  const held = holdsIn(entries, businessMs);
  const differs = await differenceOfRun(trx, { runId, businessId });
  const found = new Map<string, string>();
  for (const [index, line] of lines.entries()) {
    const reason =
      stopped ??
      differs ??
      (dropped.has(line.payableId) ? "it was left out, which the store no longer says" : null) ??
      refusedIn(entries, others, line.payableId) ??
      heldBy(held, holdable[index]) ??
      (isApprovedInTrail(given.get(line.payableId) ?? [], line, businessMs) ? null : UNPROVEN);
    if (reason !== null) found.set(line.payableId, `${TRAIL} ${reason}`);
  }
  await alarm(trx, { businessId, runId }, { scope: "run", value: runId }, found);
  return found;
}

/**
 * Compares a deposit that the store lets go with the trail; see `forbiddenByTrail`.
 *
 * @param of `ownHoldId`: the incident's hold, which the deposit is to lift
 * @returns the reason against it; null if there is none
 */
export async function depositForbiddenByTrail(
  trx: Transaction<Tables>,
  { businessId, subject, owner, sourceId, hash }: TopUp,
  of: {
    readonly run: Pick<Run, "runId" | "playbook" | "businessId"> | undefined;
    readonly ownHoldId: string | null | undefined;
  },
  businessMs: number,
): Promise<string | null> {
  const playbook = of.run?.playbook ?? "";
  const facts = { payableId: "", contactId: "", sourceId, runId: owner, playbook };
  const about = holdSubjectsOf(facts);
  const entries = await listAudit(trx, {
    businessId,
    subject: [subject, owner, sourceId, ...about],
    actions: ["top-up.approved", "top-up.rejected", ...ASKED, ...STOPS, ...HOLDS, ...INCIDENTS],
  });
  const asked = entries.findLast((entry) => ASKED.includes(entry.action) && isAsWritten(entry));
  const incident = entries.findLast(({ action }) => INCIDENTS.includes(action));
  const quorums = [Number(asked?.details["quorum"] ?? 1)];
  const given = entries.flatMap((entry): Given[] => {
    if (entry.action !== "top-up.approved" || !isAsWritten(entry)) return [];
    const details = entry.details as unknown as Omit<Given, "principal" | "stage">;
    return [{ ...details, principal: principalOf(entry.actor), stage: 0 }];
  });
  const others = entries.filter(({ details }) => details["holdId"] !== of.ownHoldId);
  const reason =
    stopIn(entries) ??
    (of.run === undefined ? null : await differenceOfRun(trx, of.run)) ??
    (await differenceOfTopUp(trx, { subject, businessId })) ??
    (of.ownHoldId != null && CLOSED.includes(incident?.action ?? "")
      ? `${incident?.actor} has decided about the account, which the store no longer says`
      : null) ??
    [...holdsIn(others, businessMs).values()].flat()[0] ??
    (asked?.details["hash"] === hash ? null : "the store has a deposit that the trail lacks") ??
    (isApprovedInTrail(given, { lineHash: hash, quorums }, businessMs) ? null : UNPROVEN);
  if (reason === null) return null;
  const found = new Map([[subject, `${TRAIL} ${reason}`]]);
  await alarm(trx, { businessId, runId: owner }, { scope: "source", value: sourceId }, found);
  return found.get(subject) ?? null;
}

/**
 * Compares a cancel that the store lets go with the trail: somebody has requested the cancellation
 * with this reason, to which one that events started adds, with its choice, what the service showed;
 * it has chosen this payment, and nobody has lifted the holds under which it was chosen. The bill is
 * on hold already, so a difference sets no further hold.
 *
 * @param holds in force, by the store
 * @returns the reason against it; null if there is none
 */
export async function cancelForbiddenByTrail(
  trx: Transaction<Tables>,
  { workflowId, businessId, policy, runId, reason: why }: Cancellation,
  { paymentId, payableId }: Pick<CancellationItem, "paymentId" | "payableId">,
  holds: readonly Hold[],
  businessMs: number,
): Promise<string | null> {
  const ofCancel = holds.filter(
    ({ holdId, scope, value }) =>
      ("holdId" in policy && holdId === policy.holdId) ||
      (scope === "payable" && value === payableId),
  );
  const about = ofCancel.map(({ scope, value }) => holdSubject(scope, value));
  const entries = await listAudit(trx, {
    businessId,
    subject: [...new Set([workflowId, payableId ?? "", runId ?? "", ...about])],
    actions: [CANCELLATION_REQUESTED, WITHHELD, ...CHOSEN, ...HOLDS],
  });
  const said = entries.filter(isAsWritten);
  const asked = said.find(
    ({ action, subject }) => action === CANCELLATION_REQUESTED && subject === workflowId,
  );
  const own = said.filter(({ actor }) => actor === workflowId);
  const hasChosen = own.some(
    ({ action, details }) =>
      CHOSEN.includes(action) && (details["payments"] as readonly unknown[]).includes(paymentId),
  );
  const asks = String(asked?.details["reason"]);
  const isShown =
    policy.events !== undefined &&
    why.startsWith(`${asks}: `) &&
    own.some(({ details }) => details["reason"] === why);
  const open = [...openHoldsIn(entries, businessMs).values()].map(
    ({ details }) => details as unknown as HoldDetails,
  );
  const reason =
    (asked?.details["policy"] === jsonHash(policy) && (asks === why || isShown)
      ? null
      : "the store has a cancellation that the trail lacks") ??
    (hasChosen ? null : "the store has chosen a payment that the trail lacks") ??
    (holdsOfCancellation(policy, open).has(payableId)
      ? null
      : "its hold was lifted, or set by nobody");
  if (reason === null) return null;
  const found = new Map([[cancelSubject(paymentId ?? ""), `${TRAIL} ${reason}`]]);
  await alarm(trx, { businessId, runId: workflowId }, null, found);
  return [...found.values()][0] ?? null;
}

const WITHHELD = "cancellation.withheld";
const CHOSEN = ["cancellation.held", "cancellation.found"];

/** The trail's entries about a deposit's terms. */
const ASKED = ["top-up.proposed", "top-up.changed"];

/** Decisions about an account that bounced: after these, its incident asks for no deposit. */
const CLOSED = ["incident.released", "incident.other-source"];
const INCIDENTS = ["incident.opened", "incident.reopened", "incident.top-up", ...CLOSED];

const TRAIL = "The audit trail and the store differ:";
const UNPROVEN = "the store has an approval of it that the trail lacks";

/** Returns the subjects of the trail's entries about holds that stop a line. */
function holdSubjectsOf(facts: HoldFacts): string[] {
  return HOLD_SCOPES.map((scope) => {
    const { fact } = HOLD_SCOPE[scope];
    return holdSubject(scope, fact === null ? "" : facts[fact]);
  });
}

/** Returns who has stopped it, as a reason; null if nobody has. */
function stopIn(entries: readonly AuditEntry[]): string | null {
  const stop = entries.find(({ action }) => [...STOPS, "top-up.rejected"].includes(action));
  if (stop === undefined) return null;
  const did = stop.action === "run.cancel-requested" ? "cancelled" : "rejected";
  return `${stop.actor} has ${did} it, which the store no longer says`;
}

function droppedIn({ action, details }: AuditEntry): readonly string[] {
  return action === "run.approved" ? (details["dropped"] as readonly string[]) : [];
}

/** Returns who has refused a bill in a run that doesn't refuse it by the store; null for nobody. */
function refusedIn(
  entries: readonly AuditEntry[],
  runs: readonly { readonly runId: string; readonly payableId: string }[],
  payableId: string,
): string | null {
  const ids = new Set(runs.flatMap((run) => (run.payableId === payableId ? [run.runId] : [])));
  if (ids.size === 0) return null;
  const refusal = entries.find(
    (entry) =>
      ids.has(entry.subject) &&
      (entry.action === "run.rejected" || droppedIn(entry).includes(payableId)),
  );
  return refusal === undefined
    ? null
    : `${refusal.actor} has refused it in ${refusal.subject}, which the store no longer says`;
}

/** Returns the entries of the holds that the trail has in force, by the hold's id. */
function openHoldsIn(entries: readonly AuditEntry[], businessMs: number): Map<string, AuditEntry> {
  const open = new Map<string, AuditEntry>();
  for (const entry of entries) {
    if (!HOLDS.includes(entry.action)) continue;
    const { holdId, until } = entry.details as unknown as HoldDetails;
    const isSet = entry.action === "hold.created";
    if (isSet && (until === null || Date.parse(until) > businessMs)) open.set(holdId, entry);
    else open.delete(holdId);
  }
  return open;
}

function heldBy(held: ReadonlyMap<string, readonly string[]>, subjects: readonly string[] = []) {
  return held.size === 0 ? null : (subjects.flatMap((each) => held.get(each) ?? [])[0] ?? null);
}

/** Returns why the holds that the trail has in force stop what they are on, by subject. */
function holdsIn(entries: readonly AuditEntry[], businessMs: number): Map<string, string[]> {
  const held = new Map<string, string[]>();
  for (const { subject, details } of openHoldsIn(entries, businessMs).values()) {
    const { reason } = details as unknown as HoldDetails;
    const said = `a hold is set on it, which the store no longer has (${reason})`;
    held.set(subject, [...(held.get(subject) ?? []), said]);
  }
  return held;
}

/**
 * Puts what is concerned on hold, so that nothing more of it is sent, and notifies operators.
 *
 * @param target null if it is on hold already
 */
async function alarm(
  trx: Transaction<Tables>,
  { businessId, runId }: { readonly businessId: string; readonly runId: string },
  target: HoldTarget | null,
  found: ReadonlyMap<string, string>,
): Promise<void> {
  const [first] = found;
  if (first === undefined) return;
  const [subject, reason] = first;
  const nowMs = await databaseNowMs(trx);
  const hold =
    target && (await createHold(trx, { businessId, ...target, reason, author: PAYRUN, nowMs }));
  const head = { businessId, nowMs, by: byWorkflow(runId), subject };
  const differs = { reason, count: found.size, holdId: hold?.holdId };
  await record(trx, trailAndStoreDiffer(head, differs, { owner: runId }));
}

import { createHash } from "node:crypto";
import { principalOf } from "../../contracts/principal.ts";
import type { Tables } from "../schema/tables.ts";
import { APPROVAL_GIVEN } from "./audit.ts";
import type { AuditRow } from "./audit-trail.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** A row of a table and what an entry of the trail says that it must be. */
export interface Fact {
  readonly table: keyof Tables;
  readonly id: string;
  readonly fields: Fields;
  /** True if what is said first stays, whatever is said later. */
  readonly isFinal?: true;
  /** True if the row may be deleted without an entry. */
  readonly mayBeGone?: true;
  /** True if the row has been deleted. */
  readonly isGone?: true;
}

type ReadEntry = (row: AuditRow, details: Fields) => readonly Fact[];

/** Returns what an entry of the trail says about rows of the store. */
export function saidIn(row: AuditRow): readonly Fact[] {
  const { action } = row;
  const read = SAID[action];
  const isOfLine = action.startsWith("line:");
  if (read === undefined && !isOfLine) return [];
  const details = JSON.parse(row.details) as Fields;
  return [...(isOfLine ? plannedIn(row, details) : []), ...(read?.(row, details) ?? [])];
}

/** What entries say about rows of the store, by action. */
const SAID: Readonly<Record<string, ReadEntry>> = {
  "run.launched": ({ subject, actor, actor_kind: kind }, details) => {
    const { playbook, revision, period, tokenId, policy, inputs } = details;
    const by = { launchedBy: actor, launchedByKind: kind, launchedByTokenId: tokenId };
    const fields = { playbook, playbookRevision: revision, period, policy, inputs, ...by };
    return [{ table: "runs", id: subject, fields }];
  },
  "run.cancel-requested": ({ subject, actor, actor_kind: byKind }) => [
    cancelledRun(subject, { by: actor, byKind }),
  ],
  "run.planned": ({ subject }, { planHash }) => [planIn(subject, 1, planHash)],
  "line:planned-anew": (_, { runId, planNo, planHash }) => [planIn(runId, planNo, planHash)],
  "run.approved": (row, details) => [
    decisionIn(row, details),
    ...(details["dropped"] as readonly string[]).map((payableId) =>
      leftOut(row.subject, payableId, principalOf(row.actor)),
    ),
  ],
  "run.rejected": (row, details) => [decisionIn(row, details)],
  "top-up.approved": (row, details) => [
    decisionIn(row, details),
    ...approvalIn(row, details, { payableId: row.subject, lineHash: details["hash"] }),
  ],
  "top-up.rejected": (row, details) => [
    decisionIn(row, details),
    topUpIn(row.subject, { state: "refused" }),
  ],
  [APPROVAL_GIVEN]: (row, details) =>
    eachOf(row, details).flatMap((line) => approvalIn(row, details, line)),
  "run.records-confirmed": ({ subject: runId }, { decisionId, tokenId, records }) =>
    (records as readonly Fields[]).map(({ contactId, record }) => ({
      table: "confirmed_records",
      id: idOf(decisionId, contactId, record),
      fields: { runId, tokenId },
    })),
  "hold.created": (row, { holdId, scope, value, reason, roles, until }) => [
    holdIn(holdId, { scope, value, reason, author: row.actor, roles, until, lifted: false }),
  ],
  "hold.released": (_, { holdId }) => [holdIn(holdId, { lifted: true })],
  "hold.ended": (_, { holdId }) => [holdIn(holdId, { lifted: true })],
  "attempt.sending": (row, details) =>
    eachOf(row, details).flatMap(({ payableId, attemptId, key, bodyHash, amountCents }) => [
      attemptIn(attemptId, { subject: payableId, seq: details["seq"], key }),
      {
        table: "sends",
        id: idOf(attemptId, details["send"]),
        fields: { key, bodyHash, amountCents },
      },
    ]),
  "attempt.answered": (row, details) =>
    eachOf(row, details).flatMap(({ attemptId, send = details["send"], madeIds }) =>
      attemptId === undefined
        ? []
        : answered(idOf(attemptId, send), { result: details["result"], madeIds }),
    ),
  "attempt.looked-up": ({ subject }, details) => [
    lookupIn(subject, details),
    ...(details["verdict"] === "adopt" ? adoptedIn(subject, details) : []),
  ],
  "alarm:late-answer": ({ subject }, { lateAnswerId, sendId, result, madeIds }) => [
    {
      table: "late_answers",
      id: String(lateAnswerId),
      fields: { subject, sendId, result, madeIds },
    },
  ],
  "wait.began": (row, { code }) => [waitIn(row, code)],
  "wait.ended": (row, { code }) => [{ ...waitIn(row, code), isGone: true }],
  "incident.opened": ({ subject }, { round, code, holdId }) => [
    incidentIn(subject, { round, code, holdId, decision: null, decidedBy: null }),
  ],
  "incident.reopened": ({ subject }) => [incidentIn(subject, { decision: null, decidedBy: null })],
  ...Object.fromEntries(
    (["released", "other-source", "top-up"] as const).map((decision): [string, ReadEntry] => [
      `incident.${decision}`,
      ({ subject, actor }) => [incidentIn(subject, { decision, decidedBy: actor })],
    ]),
  ),
  "cancellation.requested": ({ subject, actor }, { playbook, runId, reason, policy }) => [
    {
      table: "cancellations",
      id: subject,
      fields: { playbook, runId, policy, requestedBy: actor },
    },
    reasonToCancel(subject, reason),
  ],
  "cancellation.held": ({ actor }, { reason, payments, underWay }) => [
    reasonToCancel(actor, reason),
    ...itemsIn(actor, payments),
    ...itemsIn(actor, underWay),
  ],
  "cancellation.withheld": ({ actor }, { reason, bills }) => [
    reasonToCancel(actor, reason),
    ...itemsIn(actor, bills),
  ],
  "cancellation.found": ({ actor, subject }, { payments }) => [
    ...itemsIn(actor, [subject]).map((item) => ({ ...item, isGone: true as const })),
    ...itemsIn(actor, payments),
  ],
  "top-up.proposed": ({ subject }, details) => [topUpIn(subject, askedIn(details))],
  "top-up.changed": ({ subject }, details) => [topUpIn(subject, askedIn(details))],
  ...Object.fromEntries(
    (["withdrawn", "completed", "failed", "returned"] as const).map(
      (state): [string, ReadEntry] => [
        `top-up.${state}`,
        ({ subject }) => [topUpIn(subject, { state })],
      ],
    ),
  ),
  "playbook.proposed": ({ subject, actor }, { hash }) => [
    {
      table: "playbook_proposals",
      id: subject,
      fields: { hash, author: actor },
      mayBeGone: true,
    },
  ],
  // A playbook that is applied again as it is, since its schedule was deleted, keeps its author.
  "playbook.applied": ({ subject, actor }, { revision, hash, compiled, confirmedBy = null }) => [
    {
      table: "playbooks",
      id: idOf(subject, revision),
      fields: { hash, compiled, author: actor, confirmedBy },
      isFinal: true,
    },
  ],
  "token.created": (row, { name, roles, businesses, expiresAtMs, secret }) => [
    tokenIn(row.subject, {
      name,
      roles,
      businesses,
      expiresAtMs,
      secret,
      createdBy: row.actor,
      createdAtMs: row.at_ms,
      principal: principalOf(String(name)),
      maker: row.actor_kind === "principal" ? principalOf(row.actor) : null,
      confirmedBy: null,
      revoked: false,
    }),
  ],
  "token.confirmed": ({ subject, actor }) => [tokenIn(subject, { confirmedBy: actor })],
  "token.renewed": ({ subject }, { secret }) => [tokenIn(subject, { secret })],
  "token.revoked": ({ subject }) => [tokenIn(subject, { revoked: true })],
  "session.link-made": ({ actor }, { code, way, expiresAtMs }) => [
    {
      table: "sign_in_links",
      id: String(code),
      fields: { name: actor, way, expiresAtMs },
      mayBeGone: true,
    },
  ],
  "session.opened": ({ subject, actor }, { tokenId, issuer, subject: whom, ...details }) => [
    sessionIn(subject, {
      name: actor,
      tokenId: tokenId ?? null,
      issuer: issuer ?? null,
      subject: whom ?? null,
      businesses: details["businesses"] ?? null,
      expiresAtMs: details["expiresAtMs"],
      secret: details["secret"],
      ended: false,
    }),
  ],
  "session.ended": ({ subject }) => [sessionIn(subject, { ended: true })],
};

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Returns what the trail keeps of a value that is too long for it. */
export function jsonHash(value: unknown): string {
  return hashOf(JSON.stringify(value));
}

export function idOf(...parts: readonly unknown[]): string {
  return parts.map(String).join(" ");
}

export function cancelledRun(runId: string, fields: Fields): Fact {
  return { table: "runs", id: `${runId}, cancelled`, fields };
}

/** A cancellation that events started says, once it has chosen, what the service showed. */
export function reasonToCancel(workflowId: string, reason: unknown): Fact {
  return { table: "cancellations", id: `${workflowId}, reason`, fields: { reason } };
}

function planIn(runId: unknown, planNo: unknown, planHash: unknown): Fact {
  return { table: "plans", id: idOf(runId, planNo), fields: { planHash } };
}

/** Reads the versions of lines that an entry adds to a plan. */
function plannedIn(row: AuditRow, details: Fields): Fact[] {
  const { runId = row.actor } = details;
  return eachOf(row, details).flatMap(({ payableId, lineHash, amountCents, version = 1 }) =>
    lineHash === undefined
      ? []
      : [
          {
            table: "plan_lines",
            id: idOf(runId, payableId, version),
            fields: { lineHash, amountCents, isAsHashed: true },
          },
        ],
  );
}

function decisionIn({ subject, actor }: AuditRow, details: Fields): Fact {
  const { decisionId, decision, tokenId, roles, expiresAtMs } = details;
  const planHash = details["planHash"] ?? details["hash"];
  const by = { principal: principalOf(actor), tokenId, roles };
  const fields = { about: subject, decision, planHash, expiresAtMs, ...by };
  return { table: "decisions", id: String(decisionId), fields };
}

function approvalIn({ subject, actor }: AuditRow, details: Fields, line: Fields): Fact[] {
  const { runId = subject, decisionId, expiresAtMs, stage = 0, escalated = false } = details;
  const id = idOf(runId, line["payableId"], line["lineHash"], principalOf(actor));
  return [
    { table: "line_approvals", id, fields: { decisionId, expiresAtMs, stage, escalated } },
    ...(details["hurried"] === true ? [hurriedApproval(id)] : []),
  ];
}

/** An approval that was hurried once stays so, however often it is given again. */
export function hurriedApproval(id: string): Fact {
  return { table: "line_approvals", id: `${id}, hurried`, fields: {} };
}

export function leftOut(runId: unknown, payableId: unknown, droppedBy: unknown): Fact {
  return { table: "run_lines", id: `${idOf(runId, payableId)}, left out`, fields: { droppedBy } };
}

function attemptIn(attemptId: unknown, fields: Fields): Fact {
  return { table: "attempts", id: String(attemptId), fields };
}

export function answered(sendId: string, fields: Fields): Fact {
  return { table: "sends", id: `${sendId}, answered`, fields, isFinal: true };
}

function lookupIn(subject: string, { lookupId, begunAtMs, isWhole, shownIds }: Fields): Fact {
  const fields = { subject, begunAtMs, isWhole, shownIds };
  return { table: "lookups", id: String(lookupId), fields };
}

function adoptedIn(subject: string, { attemptId, seq, found }: Fields): Fact[] {
  return [
    attemptIn(attemptId, { subject, seq }),
    ...(found as readonly Fields[]).map(({ id }): Fact => {
      return { table: "adoptions", id: idOf(id, attemptId), fields: { subject } };
    }),
  ];
}

function waitIn({ subject, business_id: businessId }: AuditRow, code: unknown): Fact {
  const sourceId = subject === businessId ? "" : subject;
  return { table: "business_waits", id: idOf(sourceId, code), fields: {} };
}

function incidentIn(sourceId: string, fields: Fields): Fact {
  return { table: "incidents", id: sourceId, fields };
}

function itemsIn(workflowId: string, ids: unknown): Fact[] {
  return (ids as readonly string[]).map((id) => {
    return { table: "cancellation_items", id: idOf(workflowId, id), fields: {} };
  });
}

function askedIn({ amountCents, hash, planHash, quorum, approvers }: Fields): Fields {
  return { amountCents, hash, planHash, quorum, approvers, state: "open" };
}

function topUpIn(subject: string, fields: Fields): Fact {
  return { table: "top_ups", id: subject, fields };
}

function holdIn(holdId: unknown, fields: Fields): Fact {
  return { table: "holds", id: String(holdId), fields };
}

function tokenIn(tokenId: string, fields: Fields): Fact {
  return { table: "tokens", id: tokenId, fields };
}

function sessionIn(sessionId: string, fields: Fields): Fact {
  return { table: "sessions", id: sessionId, fields, mayBeGone: true };
}

/** Returns what an entry says about each line, or about its one subject. */
function eachOf({ subject }: AuditRow, details: Fields): readonly Fields[] {
  const { each } = details;
  return Array.isArray(each) ? (each as readonly Fields[]) : [{ payableId: subject, ...details }];
}

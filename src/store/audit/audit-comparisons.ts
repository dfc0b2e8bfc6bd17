import { type RawBuilder, sql } from "kysely";
import { hashOfLine } from "../../domain/planning/line-hash.ts";
import type { Tables } from "../schema/tables.ts";
import { readerOf, type RecordOf } from "../sql/as-record.ts";
import {
  answered,
  cancelledRun,
  type Fact,
  hashOf,
  hurriedApproval,
  idOf,
  jsonHash,
  leftOut,
  reasonToCancel,
} from "./audit-said.ts";
import { STORE_TRAIL } from "./audit.ts";

/** Whose rows are compared: a business's, or the store's own. */
export interface Whose {
  readonly businessId: string;
  /** The profile's name; null if no profile has the business. */
  readonly business: string | null;
}

/** A row as databases return it. */
export type StoredRow = Readonly<Record<string, string | number | null>>;

/** How a table is compared with the trail. */
export interface Comparison {
  /** Selects the rows, with at least the columns of the key. */
  readonly rows: (whose: Whose) => RawBuilder<unknown>;
  /** Columns that identify a row. */
  readonly key: readonly string[];
  readonly facts: (row: StoredRow, whose: Whose) => readonly Fact[];
}

/** Why a table is not compared. */
interface NotCompared {
  readonly why: string;
}

/**
 * How each table is compared with the trail, or why it isn't: a table without a row here doesn't
 * compile. What lets money out, or keeps it in, has its entries.
 */
const TABLES: Readonly<Record<keyof Tables, Comparison | NotCompared>> = {
  runs: ofTable("runs", ["run_id"], (run) => {
    const { playbook, playbookRevision, period, launchedBy, launchedByKind } = run;
    const { launchedByTokenId, cancelRequestedBy: by, cancelRequestedByKind: byKind } = run;
    const policy = jsonHash(run.policy);
    const inputs = jsonHash(run.inputs);
    const launch = { playbook, playbookRevision, period, policy, inputs };
    return [
      {
        table: "runs",
        id: run.runId,
        fields: { ...launch, launchedBy, launchedByKind, launchedByTokenId },
      },
      ...(by === null ? [] : [cancelledRun(run.runId, { by, byKind })]),
    ];
  }),
  plans: {
    ...ofTable("plans", ["run_id", "plan_no"], ({ runId, planNo, planHash }) => [
      { table: "plans", id: idOf(runId, planNo), fields: { planHash } },
    ]),
    rows: ({ businessId }) => sql`select run_id, plan_no, plan_hash from plans
      where run_id in (select run_id from runs where business_id = ${businessId})`,
  },
  plan_lines: {
    ...ofTable("plan_lines", ["run_id", "payable_id", "version"], (row, { businessId }) => {
      const { runId, payableId, version, lineHash, amountCents, line } = row;
      const isAsHashed = hashOfLine(businessId, line) === lineHash;
      const id = idOf(runId, payableId, version);
      return [{ table: "plan_lines", id, fields: { lineHash, amountCents, isAsHashed } }];
    }),
    rows: ({ businessId }) => sql`select * from plan_lines
      where run_id in (select run_id from runs where business_id = ${businessId})`,
  },
  plan_skipped: {
    why: "nothing is paid of a bill that was left out, and the next plan reads it anew",
  },
  run_lines: {
    // Its terms and its rule are those of its plan line: the gate compares them. Where it stands
    // follows from requests and payments, and lets nothing out.
    rows: ({ businessId }) => sql`select run_id, payable_id, dropped_by from run_lines
      where business_id = ${businessId} and dropped_by is not null`,
    key: ["run_id", "payable_id"],
    facts: (row) => [leftOut(row["run_id"], row["payable_id"], row["dropped_by"])],
  },
  dry_plans: { why: "only shown: no approval names one" },
  dry_plan_lines: { why: "only shown: no approval names one" },
  attempts: ofTable("attempts", ["subject", "seq"], (attempt) => {
    const { attemptId, subject, seq, idempotencyKey: key } = attempt;
    return [{ table: "attempts", id: attemptId, fields: { subject, seq, key } }];
  }),
  sends: {
    rows: ({ businessId }) => sql`select sends.subject, sends.seq, sends.send_no, sends.attempt_id,
        sends.body, sends.amount_cents, sends.result, sends.made_ids, attempts.idempotency_key
      from sends join attempts on attempts.business_id = sends.business_id
        and attempts.subject = sends.subject and attempts.seq = sends.seq
      where sends.business_id = ${businessId}`,
    key: ["subject", "seq", "send_no"],
    facts: (row) => {
      const id = idOf(row["attempt_id"], row["send_no"]);
      const bodyHash = hashOf(String(row["body"]));
      const { idempotency_key: key, amount_cents: amountCents, result } = row;
      const sent: Fact = { table: "sends", id, fields: { key, bodyHash, amountCents } };
      const madeIds = JSON.parse(String(row["made_ids"])) as unknown;
      return result === "pending" ? [sent] : [sent, answered(id, { result, madeIds })];
    },
  },
  late_answers: ofTable("late_answers", ["late_answer_id"], (answer) => {
    const { lateAnswerId, subject, sendId, result, madeIds } = answer;
    const fields = { subject, sendId, result, madeIds };
    return [{ table: "late_answers", id: lateAnswerId, fields }];
  }),
  lookups: ofTable(
    "lookups",
    ["lookup_id"],
    ({ lookupId, subject, begunAtMs, isWhole, ...row }) => {
      const fields = { subject, begunAtMs, isWhole, shownIds: jsonHash(row.shownIds) };
      return [{ table: "lookups", id: lookupId, fields }];
    },
  ),
  adoptions: ofTable("adoptions", ["found_id", "attempt_id"], (adopted) => {
    const { foundId, attemptId, subject } = adopted;
    return [{ table: "adoptions", id: idOf(foundId, attemptId), fields: { subject } }];
  }),
  open_subjects: { why: "an index of requests without an answer: the gate reads these themselves" },
  claims: {
    why: "made anew from open runs and retries each minute; no claim pays a line that isn't approved for its run",
  },
  holds: ofTable("holds", ["hold_id"], ({ holdId, ...hold }) => {
    const { scope, value, reason, author, roles, untilMs, releasedAtMs } = hold;
    const until = untilMs === null ? null : new Date(untilMs).toISOString();
    const lifted = releasedAtMs !== null;
    const fields = { scope, value, reason, author, roles, until, lifted };
    return [{ table: "holds", id: holdId, fields }];
  }),
  business_waits: ofTable("business_waits", ["source_id", "code"], ({ sourceId, code }) => [
    { table: "business_waits", id: idOf(sourceId, code), fields: {} },
  ]),
  seen_payments: { why: "what the service showed last, read anew before anything follows from it" },
  late_passes: { why: "how far a reading of the service is" },
  decisions: {
    // A refused decision lets nothing out. A signed one is here as well; what it claims is in the
    // trail's entry, with its signature.
    ...ofTable("decisions", ["decision_id"], (row) => {
      const { decisionId, runId: about, decision, planHash, expiresAtMs, ...by } = row;
      const { principal, tokenId, roles } = by;
      const fields = { about, decision, planHash, expiresAtMs, principal, tokenId, roles };
      return [{ table: "decisions", id: decisionId, fields }];
    }),
    rows: ({ businessId }) =>
      sql`select * from decisions where outcome = 'accepted' and ${aboutOf(businessId)}`,
  },
  line_approvals: {
    ...ofTable("line_approvals", ["run_id", "payable_id", "line_hash", "principal"], (row) => {
      const { runId, payableId, lineHash, principal, hurried, ...approval } = row;
      const { decisionId, expiresAtMs, stage, escalated } = approval;
      const id = idOf(runId, payableId, lineHash, principal);
      const fields = { decisionId, expiresAtMs, stage, escalated };
      return [{ table: "line_approvals", id, fields }, ...(hurried ? [hurriedApproval(id)] : [])];
    }),
    rows: ({ businessId }) => sql`select * from line_approvals where ${aboutOf(businessId)}`,
  },
  confirmed_records: ofTable(
    "confirmed_records",
    ["decision_id", "contact_id", "record"],
    ({ decisionId, contactId, record, runId, tokenId }) => [
      {
        table: "confirmed_records",
        id: idOf(decisionId, contactId, record),
        fields: { runId, tokenId },
      },
    ],
  ),
  approval_stages: {
    why: "a copy of the run's rules; the gate counts by the plan line's, which its hash covers",
  },
  tokens: {
    ...ofTable("tokens", ["token_id"], ({ tokenId, tokenHash, revokedAtMs, ...token }) => {
      const { name, principal, roles, businesses, expiresAtMs, confirmedBy, ...made } = token;
      const { createdAtMs, createdBy, maker } = made;
      const fields = {
        name,
        principal,
        roles,
        businesses,
        expiresAtMs,
        confirmedBy,
        createdAtMs,
        createdBy,
        maker,
        secret: hashOf(tokenHash),
        revoked: revokedAtMs !== null,
      };
      return [{ table: "tokens", id: tokenId, fields }];
    }),
    rows: () => sql`select * from tokens`,
  },
  token_uses: { why: "decides only whether a token's holder hears of a new address" },
  sessions: {
    ...ofTable("sessions", ["session_id"], ({ sessionId, sessionHash, endedAtMs, ...session }) => {
      const { name, tokenId, issuer, subject, businesses, expiresAtMs } = session;
      const fields = {
        name,
        tokenId,
        issuer,
        subject,
        businesses,
        expiresAtMs,
        secret: hashOf(sessionHash),
        ended: endedAtMs !== null,
      };
      return [{ table: "sessions", id: sessionId, fields, mayBeGone: true }];
    }),
    rows: () => sql`select * from sessions`,
  },
  sign_in_links: {
    ...ofTable("sign_in_links", ["code_hash"], ({ codeHash, name, way, expiresAtMs }) => [
      {
        table: "sign_in_links",
        id: hashOf(codeHash),
        fields: { name, way, expiresAtMs },
        mayBeGone: true,
      },
    ]),
    rows: () => sql`select * from sign_in_links`,
  },
  inbox: { why: "events only make Payrun look" },
  subscriptions: { why: "says which workflow looks after an event" },
  pending_signals: { why: "signals only make workflows look" },
  event_starts: { why: "what they start is compared: runs and cancellations" },
  account_looks: { why: "they only make Payrun read accounts" },
  retries: { why: "each further payment passes the gate, with the approval of its run" },
  retry_cases: { why: "each further payment passes the gate, with the approval of its run" },
  incidents: ofTable("incidents", ["source_id"], (incident) => {
    const { sourceId, round, code, holdId, decision, decidedBy } = incident;
    const fields = { round, code, holdId, decision, decidedBy };
    return [{ table: "incidents", id: sourceId, fields }];
  }),
  cancellations: ofTable("cancellations", ["workflow_id"], ({ workflowId, ...asked }) => {
    const { playbook, runId, reason, requestedBy } = asked;
    const fields = { playbook, runId, policy: jsonHash(asked.policy), requestedBy };
    return [{ table: "cancellations", id: workflowId, fields }, reasonToCancel(workflowId, reason)];
  }),
  cancellation_items: ofTable("cancellation_items", ["workflow_id", "item_no"], (item) => {
    const id = idOf(item.workflowId, item.paymentId ?? item.payableId);
    return [{ table: "cancellation_items", id, fields: {} }];
  }),
  top_ups: ofTable("top_ups", ["subject"], ({ subject, state, ...asked }) => {
    const { amountCents, hash, planHash, quorum, approvers } = asked;
    const fields = { amountCents, hash, planHash, quorum, approvers };
    const isOpen = ["proposed", "sending", "on-its-way"].includes(state);
    return [
      { table: "top_ups", id: subject, fields: { ...fields, state: isOpen ? "open" : state } },
    ];
  }),
  vault: { why: "personal data of an onboarding, encrypted; no payment depends on it" },
  onboardings: { why: "takes a business through KYB; no payment depends on it" },
  onboarding_inputs: { why: "takes a business through KYB; no payment depends on it" },
  names: { why: "only shown, and read anew with each bill" },
  notices: { why: "says what has happened; nothing follows from it" },
  notice_facts: { why: "says which notices were written" },
  notice_deliveries: { why: "says which notices were delivered" },
  audit: { why: "it is what the rest is compared with; its own chain is recomputed" },
  audit_ends: { why: "compared with the trail's last entry" },
  playbooks: {
    ...ofTable("playbooks", ["name", "revision"], ({ name, revision, ...stored }) => {
      const { author, confirmedBy } = stored;
      const fields = {
        hash: hashOf(stored.text),
        compiled: jsonHash(stored.compiled),
        author,
        confirmedBy,
      };
      return [{ table: "playbooks", id: idOf(name, revision), fields }];
    }),
    rows: ({ business }) => sql`select * from playbooks where business = ${business}`,
  },
  playbook_proposals: {
    ...ofTable("playbook_proposals", ["name"], ({ name, author, text }) => [
      {
        table: "playbook_proposals",
        id: name,
        fields: { hash: hashOf(text), author },
        mayBeGone: true,
      },
    ]),
    rows: ({ business }) => sql`select * from playbook_proposals where business = ${business}`,
  },
  secrets: { why: "keys of gateways, which the trail must not have" },
  leases: { why: "which process does what at the moment" },
  keyed_requests: { why: "says what a request that comes again is answered, and allows nothing" },
  keyed_effects: { why: "says what a request that comes again is answered, and allows nothing" },
};

/** Tables whose rows belong to the store itself. */
const OF_STORE: readonly string[] = ["tokens", "sessions", "sign_in_links"];

/** Tables whose rows name the profile. */
const OF_PROFILE: readonly string[] = ["playbooks", "playbook_proposals"];

/** Returns how the rows of a business, or the store's own, are compared, by table. */
export function comparisonsOf({ businessId, business }: Whose): Map<string, Comparison> {
  const isStores = businessId === STORE_TRAIL;
  return new Map(
    Object.entries(TABLES).flatMap(([table, how]) => {
      const isNamed = business !== null || !OF_PROFILE.includes(table);
      return "rows" in how && OF_STORE.includes(table) === isStores && isNamed
        ? [[table, how] as const]
        : [];
    }),
  );
}

/** Compares all rows of a business in a table. */
function ofTable<Name extends keyof Tables>(
  table: Name,
  key: readonly (keyof Tables[Name] & string)[],
  facts: (row: RecordOf<Name>, whose: Whose) => readonly Fact[],
): Comparison {
  const read = readerOf(table);
  return {
    rows: ({ businessId }) =>
      sql`select * from ${sql.table(table)} where business_id = ${businessId}`,
    key,
    facts: (row, whose) => facts(read(row) as unknown as RecordOf<Name>, whose),
  };
}

/** Runs of a business, and its deposits, which decisions name as runs. */
function aboutOf(businessId: string): RawBuilder<unknown> {
  return sql`run_id in (
    select run_id from runs where business_id = ${businessId}
    union select subject from top_ups where business_id = ${businessId})`;
}

import { DatabaseSync, type StatementSync } from "node:sqlite";

const ENDED: readonly string[] = [
  "completed",
  "completed-with-exceptions",
  "rejected",
  "expired",
  "cancelled",
  "failed",
];

interface LineFact {
  readonly runId: string;
  readonly payableId: string;
  readonly state: string;
  readonly reason: string | null;
  readonly amountCents: number;
  /** Since when it has come to nothing again and again. */
  readonly restSinceMs: number | null;
}

/** One row of the ledger. */
export interface SendRow {
  readonly sendId: string;
  readonly subject: string;
  readonly key: string;
  readonly seq: number;
  readonly sendNo: number;
  readonly path: string;
  readonly body: string;
  readonly openedMs: number;
  readonly leaveByMs: number;
  readonly result: string;
  readonly status: number | null;
  readonly code: string | null;
  /** Workflow id for which it was sent. */
  readonly owner: string;
  readonly approvedHash: string;
  /** Ids that were there before its key's first send. */
  readonly baseline: readonly string[];
  readonly answeredMs: number | null;
  readonly madeIds: readonly string[];
  /** What looks have found and taken for the effect of its attempt. */
  readonly adoptedIds: readonly string[];
}

/** A cancel that was let through, and may still leave. */
interface CancelFact {
  readonly sendId: string;
  readonly subject: string;
  /** Whose payment it takes back; null where the service doesn't say. */
  readonly payableId: string | null;
  readonly isHeld: boolean;
}

/** What somebody has read of a subject, and written down. */
export interface LookRow {
  readonly begunMs: number;
  readonly recordedMs: number;
  readonly isWhole: boolean;
  readonly shownIds: readonly string[];
}

/** A process's clock may be so far behind. */
const SKEW_MS = 600_000;

const SENDS = `select s.*, a.idempotency_key,
    (select json_group_array(found_id) from adoptions d where d.attempt_id = s.attempt_id)
      as adopted_ids
  from sends s join attempts a on a.attempt_id = s.attempt_id`;

function toSend(row: Record<string, unknown>): SendRow {
  return {
    sendId: String(row["send_id"]),
    subject: String(row["subject"]),
    key: String(row["idempotency_key"]),
    seq: Number(row["seq"]),
    sendNo: Number(row["send_no"]),
    path: String(row["path"]),
    body: String(row["body"]),
    openedMs: Number(row["opened_at_ms"]),
    leaveByMs: Number(row["leave_by_ms"]),
    result: String(row["result"]),
    status: row["status"] === null ? null : Number(row["status"]),
    code: textOf(row["code"]),
    owner: String(row["owner"]),
    approvedHash: String(row["approved_hash"]),
    baseline: idsOf(row["baseline"]),
    answeredMs: row["answered_at_ms"] === null ? null : Number(row["answered_at_ms"]),
    madeIds: idsOf(row["made_ids"]),
    adoptedIds: idsOf(row["adopted_ids"]),
  };
}

function idsOf(json: unknown): string[] {
  return JSON.parse(String(json)) as string[];
}

/**
 * What the rules read of the engine's store, over a connection of their own. Only this file and
 * `store-rows.ts` know its tables.
 */
export class StoreFacts {
  readonly #path: string;
  readonly #statements = new Map<string, StatementSync>();
  #db: DatabaseSync;

  constructor(path: string) {
    this.#path = path;
    this.#db = new DatabaseSync(path, { readOnly: true });
  }

  /** Opens it again, after its file was replaced. */
  open(): void {
    this.#db = new DatabaseSync(this.#path, { readOnly: true });
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  /** Lines of all plans that an approval counts for: by payable, what each run may pay of it. */
  approvedCents(payableId: string): number {
    const rows = this.#all(
      `select l.run_id, max(l.amount_cents) as cents from plan_lines l
        join line_approvals a on a.run_id = l.run_id and a.payable_id = l.payable_id
         and a.line_hash = l.line_hash
        where l.payable_id = ? group by l.run_id`,
      payableId,
    );
    return rows.reduce((sum, row) => sum + Number(row["cents"]), 0);
  }

  /** Lines with where they stand. */
  lines(): LineFact[] {
    const text =
      "select run_id, payable_id, state, reason, amount_cents, rest_since_ms from run_lines";
    return this.#all(text).map((row) => ({
      amountCents: Number(row["amount_cents"]),
      runId: String(row["run_id"]),
      payableId: String(row["payable_id"]),
      state: String(row["state"]),
      reason: textOf(row["reason"]),
      restSinceMs: row["rest_since_ms"] === null ? null : Number(row["rest_since_ms"]),
    }));
  }

  /** States of a bill's lines, in all runs. */
  states(payableId: string): string[] {
    return this.lines()
      .filter((line) => line.payableId === payableId)
      .map(({ state }) => state);
  }

  endedRuns(): Set<string> {
    const ended = this.runs().filter(({ phase }) => ENDED.includes(phase));
    return new Set(ended.map(({ runId }) => runId));
  }

  /** The sends of a subject, first to last. */
  sends(subject: string): SendRow[] {
    return this.#all(`${SENDS} where s.subject = ? order by s.seq, s.send_no`, subject).map(toSend);
  }

  sendsOfKey(key: string): SendRow[] {
    return this.#all(`${SENDS} where a.idempotency_key = ? order by s.send_no`, key).map(toSend);
  }

  isClaimed(payableId: string): boolean {
    return this.#all("select 1 from claims where payable_id = ?", payableId).length > 0;
  }

  /** The looks at a subject, first to last. */
  looks(subject: string): LookRow[] {
    const text = "select * from looks where subject = ? order by begun_at_ms";
    return this.#all(text, subject).map((row) => ({
      begunMs: Number(row["begun_at_ms"]),
      recordedMs: Number(row["recorded_at_ms"]),
      isWhole: row["is_whole"] === 1,
      shownIds: idsOf(row["shown_ids"]),
    }));
  }

  /** Bills of which a send has no answer that closes it, and that nobody claims. */
  openAndFree(): string[] {
    const text = `select distinct s.subject from sends s
      join attempts a on a.attempt_id = s.attempt_id and a.operation = 'pay'
      where s.result in ('pending', 'unknown', 'conflict', 'unconfirmed')
        and not exists (select 1 from claims c where c.payable_id = s.subject)`;
    return this.#all(text).map((row) => String(row["subject"]));
  }

  /** How many people's approval a line has at an instant of the business clock, and needs. */
  approvalsAt(
    subject: string,
    lineHash: string,
    businessMs: number,
  ): { readonly valid: number; readonly needed: number } {
    const rows = this.#all(
      "select principal, expires_at_ms from line_approvals where payable_id = ? and line_hash = ?",
      subject,
      lineHash,
    ).filter((row) => Number(row["expires_at_ms"]) > businessMs);
    const lines = this.#all(
      "select max(quorum) as quorum from run_lines where payable_id = ? and line_hash = ?",
      subject,
      lineHash,
    );
    return {
      valid: new Set(rows.map((row) => row["principal"])).size,
      needed: Math.max(1, Number(lines[0]?.["quorum"] ?? 1)),
    };
  }

  /** The bank account that a line of a plan names; undefined where no plan has the line. */
  approvedLast4(payableId: string, lineHash: string): string | undefined {
    const text = "select line from plan_lines where payable_id = ? and line_hash = ?";
    const [row] = this.#all(text, payableId, lineHash);
    if (row === undefined) return undefined;
    return (JSON.parse(String(row["line"])) as { bankLast4?: string }).bankLast4;
  }

  /** Runs in whose plans a line stands. */
  runsOfLine(payableId: string, lineHash: string): string[] {
    const text = "select distinct run_id from plan_lines where payable_id = ? and line_hash = ?";
    return this.#all(text, payableId, lineHash).map((row) => String(row["run_id"]));
  }

  /** When a line was approved last, by the clock of the gateway that took it; 0 where it never was. */
  approvedMs(payableId: string, lineHash: string): number {
    const text =
      "select max(decided_at_ms) as at_ms from line_approvals " +
      "join decisions using (decision_id) where payable_id = ? and line_hash = ?";
    return Number(this.#all(text, payableId, lineHash)[0]?.["at_ms"] ?? 0);
  }

  /** Answers that found the result of their send written. */
  lateAnswers(): string[] {
    const text = "select distinct subject from late_answers order by subject";
    return this.#all(text).map((row) => String(row["subject"]));
  }

  /** True where somebody was told of a bill. */
  isTold(payableId: string): boolean {
    const about = `%"${payableId}"%`;
    return this.#all("select 1 from notices where data like ?", about).length > 0;
  }

  /** True where somebody was told of a bill since an instant. */
  wasTold(payableId: string, sinceMs: number): boolean {
    const text = "select 1 from notices where data like ? and created_at_ms >= ?";
    return this.#all(text, `%"${payableId}"%`, sinceMs - SKEW_MS).length > 0;
  }

  /** True where a bill was put on hold since an instant, or was and still is. */
  wasHeld(payableId: string, sinceMs: number): boolean {
    const text = `select 1 from holds where scope = 'payable' and value = ?
      and (created_at_ms >= ? or released_at_ms is null)`;
    return this.#all(text, payableId, sinceMs - SKEW_MS).length > 0;
  }

  /** True where a bill is left to a person because nothing that was sent explains what stands. */
  isLeftToPerson(payableId: string): boolean {
    const text = `select 1 from run_lines where payable_id = ? and state = 'parked'
      and reason_code = 'unaccounted'`;
    return this.#all(text, payableId).length > 0;
  }

  /** Cancels that may still leave, and whether the bill of each is on hold; null where none is known. */
  cancels(businessMs: number): CancelFact[] {
    const text = `select s.send_id, s.subject, i.payable_id, exists (
        select 1 from holds h where h.scope = 'payable' and h.value = i.payable_id
          and h.released_at_ms is null and (h.until_ms is null or h.until_ms > ?)) as is_held
      from sends s join cancellation_items i
        on i.workflow_id = s.owner and 'cancel/' || i.payment_id = s.subject
      where s.result = 'pending'`;
    return this.#all(text, businessMs).map((row) => ({
      sendId: String(row["send_id"]),
      subject: String(row["subject"]),
      payableId: textOf(row["payable_id"]),
      isHeld: row["is_held"] === 1,
    }));
  }

  /** Lines that don't say yet what people have decided about them. */
  undone(businessMs: number): { readonly payableId: string; readonly what: string }[] {
    // What names neither a bill nor a vendor may hold a line, or not.
    const held = (isMaybe: boolean) => `exists (select 1 from holds h where h.released_at_ms is null
      and (h.until_ms is null or h.until_ms > ?1)
      and (${isMaybe ? "h.scope not in ('payable', 'contact')" : "h.scope = 'all'"}
        or (h.scope = 'payable' and h.value = l.payable_id)
        or (h.scope = 'contact' and h.value = p.contact_id)))`;
    const text = `select l.run_id, l.payable_id, case
        when r.cancel_requested_at_ms is not null then 'its run is cancelled'
        when exists (select 1 from decisions d where d.run_id = l.run_id
          and d.decision = 'reject' and d.outcome = 'accepted') then 'its run is rejected'
        when l.reason_code = 'on-hold' and not ${held(true)} then 'nothing holds it any more'
        when l.state <> 'on-hold' and ${held(false)} then 'it is on hold'
        when l.state = 'awaiting-approval' and max(1, l.quorum) <= (
          select count(distinct a.principal) from line_approvals a where a.run_id = l.run_id
            and a.payable_id = l.payable_id and a.line_hash = l.line_hash
            and a.expires_at_ms > ?1) then 'it is approved'
        end as undone, l.state
      from run_lines l join runs r on r.run_id = l.run_id
        join plan_lines p on p.run_id = l.run_id and p.payable_id = l.payable_id
          and p.line_hash = l.line_hash
      where l.state in ('planned', 'awaiting-approval', 'on-hold') and undone is not null
        and not exists (select 1 from open_subjects o where o.subject = l.payable_id)`;
    return this.#all(text, businessMs).map((row) => ({
      payableId: String(row["payable_id"]),
      what: `${String(row["payable_id"])} of ${String(row["run_id"])} is ${String(row["state"])}, though ${String(row["undone"])}`,
    }));
  }

  /** True where somebody was asked for the deposit that a run's bills wait for. */
  isAskedForMoney(runId: string): boolean {
    const text = "select 1 from notices where kind = 'top-up-needed' and run_id = ?";
    return this.#all(text, runId).length > 0;
  }

  hasEvent(eventId: string): boolean {
    return this.#all("select 1 from inbox where event_id = ?", eventId).length > 0;
  }

  /** The last entry's hash of a business's audit trail; undefined where it has none yet. */
  trailEnd(businessId: string): string | undefined {
    const text = "select hash from audit_ends where business_id = ?";
    return textOf(this.#all(text, businessId)[0]?.["hash"]) ?? undefined;
  }

  /** How often the engine has found that its store is older than what was done with it. */
  lossesNoticed(): number {
    const text = "select count(*) as losses from audit where action = 'store.behind'";
    return Number(this.#all(text)[0]?.["losses"]);
  }

  runs(): { runId: string; phase: string }[] {
    return this.#all("select run_id, phase from runs").map((row) => ({
      runId: String(row["run_id"]),
      phase: String(row["phase"]),
    }));
  }

  /** Where everything stands, for a trace. */
  summary(): string[] {
    const runs = this.runs().map(({ runId, phase }) => `${runId}: ${phase}`);
    const lines = this.lines().map(
      ({ runId, payableId, state, reason }) => `${payableId} of ${runId}: ${state} ${reason ?? ""}`,
    );
    return [...runs, ...lines];
  }

  /** A bill's lines, sends and looks in words, for a trace. */
  of(payableId: string): string[] {
    const lines = this.lines()
      .filter((line) => line.payableId === payableId)
      .map(({ runId, state, reason }) => `${payableId} of ${runId}: ${state} ${reason ?? ""}`);
    const sends = this.#all(
      `select seq, send_no, sent_by, opened_at_ms, leave_by_ms, result, status, code, owner
        from sends where subject = ? order by seq, send_no`,
      payableId,
    ).map((row) => `${payableId}, send ${JSON.stringify(row)}`);
    const looks = this.#all(
      "select begun_at_ms, is_whole, shown_ids from looks where subject = ? order by begun_at_ms",
      payableId,
    ).map((row) => `${payableId}, look ${JSON.stringify(row)}`);
    return [...lines, ...sends, ...looks];
  }

  #all(text: string, ...given: readonly (string | number)[]): Record<string, unknown>[] {
    const statement = this.#statements.get(text) ?? this.#db.prepare(text);
    this.#statements.set(text, statement);
    return statement.all(...given);
  }
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

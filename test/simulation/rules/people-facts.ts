import type { VendorRecord } from "../../../src/contracts/pay-run.ts";
import { StoreReader } from "./store-reader.ts";

/** Notices about many bills of a run at once, by the state that they report. */
const TELLS: Readonly<Record<string, readonly string[]>> = {
  "awaiting-approval": ["approval-needed"],
  planned: ["top-up-needed", "business-waits"],
  parked: ["parked"],
};

/** How far behind a process's clock may be. */
const SKEW_MS = 600_000;

/** True for a line that waits for a word about its vendor's record for which nobody was asked. */
const UNASKED = `l.record_asked is not null and l.state in ('awaiting-approval', 'retrying')
  and not exists (select 1 from notices n where n.kind = 'changed-record'
    and instr(n.text, 'for one word') > 0
    and instr(n.data, '"' || l.contact_id || '"') > 0)`;

/** What changes together is notified of together, and processes' clocks differ. */
const ASKED_WITHIN_MS = 1_800_000;

/** Work beside runs whose notice is missing, for each kind of work. */
const UNTOLD_WORK = `
  with told as (select kind, fact_key, data from notices)
  select 'the retry of ' || payable_id || ' is ' || phase as what, payable_id as about from retries
    where phase <> 'ended'
      and not exists (select 1 from told where instr(data, '"' || payable_id || '"') > 0)
  union all
  select 'the incident of ' || source_id || ' is ' || phase, '' from incidents
    where not exists (select 1 from told
      where kind = 'incident' and fact_key = workflow_id || '/' || round)
  union all
  select workflow_id || ' is ' || phase, '' from cancellations
    where ended_at_ms is null
      and not exists (select 1 from told where instr(data, '"' || workflow_id || '"') > 0)
  union all
  select payment_id || ' of ' || workflow_id || ' is ' || state, coalesce(payable_id, '') from cancellation_items
    where payment_id is not null and open = 0
      and state in ('too-late', 'several-scheduled', 'unknown')
      and not exists (select 1 from told where kind = 'payment-not-cancelled'
        and fact_key = workflow_id || '/' || payment_id)
  union all
  select subject || ' is ' || state, '' from top_ups
    where (state = 'proposed' and not exists (select 1 from told
        where kind = 'top-up-needed' and instr(fact_key, subject || '/') = 1))
      or (state = 'sending' or (state = 'on-its-way' and arrives_on < ?1)) and not exists (
        select 1 from told where kind = 'top-up-late' and instr(fact_key, subject || '/') = 1)
      or (state in ('failed', 'returned') and not exists (select 1 from told
        where kind = 'top-up-' || state and fact_key = subject))`;

/** What the rules read of people's words and of notices. */
export class PeopleFacts extends StoreReader {
  /**
   * Returns how many approvals a line has at an instant of the business clock, and how many it
   * needs.
   */
  approvalsAt(
    subject: string,
    lineHash: string,
    businessMs: number,
  ): { readonly valid: number; readonly needed: number } {
    const rows = this.all(
      "select principal, expires_at_ms from line_approvals where payable_id = ? and line_hash = ?",
      subject,
      lineHash,
    ).filter((row) => Number(row["expires_at_ms"]) > businessMs);
    const lines = this.all(
      "select max(quorum) as quorum from run_lines where payable_id = ? and line_hash = ?",
      subject,
      lineHash,
    );
    return {
      valid: new Set(rows.map((row) => row["principal"])).size,
      needed: Math.max(1, Number(lines[0]?.["quorum"] ?? 1)),
    };
  }

  /** Returns the bank account of a plan's line; undefined if no plan has the line. */
  approvedLast4(payableId: string, lineHash: string): string | undefined {
    const text = "select line from plan_lines where payable_id = ? and line_hash = ?";
    const [row] = this.all(text, payableId, lineHash);
    if (row === undefined) return undefined;
    return (JSON.parse(String(row["line"])) as { bankLast4?: string }).bankLast4;
  }

  /**
   * Returns the vendor's record that a line was planned with; undefined if no plan has the line. Runs
   * after each other may plan the same line: an owner that is no run has that of the latest.
   */
  approvedRecord(payableId: string, lineHash: string, owner: string): VendorRecord | undefined {
    const text =
      "select line from plan_lines join runs using (run_id) where payable_id = ? and line_hash = ? " +
      "order by run_id = ? desc, launched_at_ms desc, plan_lines.version desc";
    const [row] = this.all(text, payableId, lineHash, owner);
    if (row === undefined) return undefined;
    return (JSON.parse(String(row["line"])) as { record: VendorRecord }).record;
  }

  /** True if somebody has said that the account of this record is still right. */
  isConfirmed(contactId: string, record: string): boolean {
    const text = "select 1 from confirmed_records where contact_id = ? and record = ?";
    return this.all(text, contactId, record).length > 0;
  }

  /**
   * Returns when a line was last approved, by the clock of the gateway that took it; 0 if never.
   */
  approvedMs(payableId: string, lineHash: string): number {
    const text =
      "select max(decided_at_ms) as at_ms from line_approvals " +
      "join decisions using (decision_id) where payable_id = ? and line_hash = ?";
    return Number(this.all(text, payableId, lineHash)[0]?.["at_ms"] ?? 0);
  }

  /** True if people were notified of something of this kind. */
  isToldOf(kind: string): boolean {
    return this.all("select 1 from notices where kind = ?", kind).length > 0;
  }

  /** Returns the vendors about whose records a bill waits for a word, and nobody was asked for it. */
  unaskedVendors(): { readonly payableId: string; readonly contactId: string }[] {
    const text = `select payable_id, contact_id from run_lines l where ${UNASKED}`;
    return this.all(text).map((row) => ({
      payableId: String(row["payable_id"]),
      contactId: String(row["contact_id"]),
    }));
  }

  /** True if people were notified of a bill. */
  isTold(payableId: string): boolean {
    const about = `%"${payableId}"%`;
    return this.all("select 1 from notices where data like ?", about).length > 0;
  }

  /** True if people were notified of a run's bills in a state together, by a request or a list. */
  isRunTold(runId: string, state: string): boolean {
    const kinds = TELLS[state] ?? [];
    const text = `select 1 from notices where run_id = ? and kind in (${kinds.map(() => "?").join()})`;
    return this.all(text, runId, ...kinds).length > 0;
  }

  /**
   * Returns the reasons of holds on a line that Payrun has set by itself, and of which no notice
   * says anything. A person knows of the holds that they set, by a cancel as well.
   */
  untoldHolds(payableId: string, runId: string, businessMs: number): string[] {
    const text = `select h.reason from holds h
        join run_lines l on l.business_id = h.business_id and l.run_id = ?2 and l.payable_id = ?1
        join runs r on r.run_id = l.run_id
      where h.released_at_ms is null and (h.until_ms is null or h.until_ms > ?3)
        and h.author_kind = 'system'
        and h.value = case h.scope when 'payable' then l.payable_id when 'contact' then l.contact_id
          when 'source' then l.source_id when 'run' then l.run_id when 'playbook' then r.playbook
          when 'all' then '' end
        and not exists (select 1 from cancellations c where c.workflow_id = h.author
          and c.requested_by_kind = 'principal')
        and not exists (select 1 from notices n where n.business_id = h.business_id
          and (instr(n.data, '"' || h.hold_id || '"') > 0 or instr(n.data, '"' || h.author || '"') > 0
            or instr(n.text, h.reason) > 0
            or (h.scope in ('payable', 'contact') and instr(n.data, '"' || h.value || '"') > 0)))`;
    return this.all(text, payableId, runId, businessMs).map((row) => String(row["reason"]));
  }

  /** True if people were notified of a bill since an instant. */
  wasTold(payableId: string, sinceMs: number): boolean {
    const text = "select 1 from notices where data like ? and created_at_ms >= ?";
    return this.all(text, `%"${payableId}"%`, sinceMs - SKEW_MS).length > 0;
  }

  /** True if a bill was put on hold since an instant, or was on hold already and still is. */
  wasHeld(payableId: string, sinceMs: number): boolean {
    const text = `select 1 from holds where scope = 'payable' and value = ?
      and (created_at_ms >= ? or released_at_ms is null)`;
    return this.all(text, payableId, sinceMs - SKEW_MS).length > 0;
  }

  /** True if a bill is parked because nothing that was sent explains its payments. */
  isLeftToPerson(payableId: string): boolean {
    const text = `select 1 from run_lines where payable_id = ? and state = 'parked'
      and reason_code = 'unaccounted'`;
    return this.all(text, payableId).length > 0;
  }

  /** Lines whose state does not yet reflect a person's decision about them. */
  undone(businessMs: number): { readonly payableId: string; readonly what: string }[] {
    // A hold that names neither a bill nor a vendor may or may not hold a line.
    const held = (isMaybe: boolean) => `exists (select 1 from holds h where h.released_at_ms is null
      and (h.until_ms is null or h.until_ms > ?1)
      and (${isMaybe ? "h.scope not in ('payable', 'contact')" : "h.scope = 'all'"}
        or (h.scope = 'payable' and h.value = l.payable_id)
        or (h.scope = 'contact' and h.value = p.contact_id)))`;
    // The word of a person who may say it ends the question.
    const isRight = `exists (select 1 from confirmed_records c
        join tokens t on t.token_id = c.token_id
        join json_each(t.roles) role
        join json_each(p.line, '$.approvers') approver on approver.value = role.value
      where c.contact_id = p.contact_id and c.record = l.record_asked)`;
    const text = `select l.run_id, l.payable_id, case
        when ${isRight} then 'somebody has said that its vendor''s account is right'
        when l.record_asked_at_ms < ?1 - ${ASKED_WITHIN_MS} and ${UNASKED}
          then 'nobody was asked for a word about its vendor'
        when l.state in ('retrying', 'scheduled', 'held') then null
        when r.cancel_requested_at_ms is not null then 'its run is cancelled'
        when exists (select 1 from decisions d where d.run_id = l.run_id
          and d.decision = 'reject' and d.outcome = 'accepted') then 'its run is rejected'
        when l.reason_code = 'on_hold' and not ${held(true)} then 'nothing holds it any more'
        when l.state <> 'on-hold' and ${held(false)} then 'it is on hold'
        when l.state = 'awaiting-approval' and l.record_asked is null and max(1, l.quorum) <= (
          select count(distinct a.principal) from line_approvals a where a.run_id = l.run_id
            and a.payable_id = l.payable_id and a.line_hash = l.line_hash
            and a.expires_at_ms > ?1) then 'it is approved'
        end as undone, l.state
      from run_lines l join runs r on r.run_id = l.run_id
        join plan_lines p on p.run_id = l.run_id and p.payable_id = l.payable_id
          and p.line_hash = l.line_hash
      where l.state in ('planned', 'awaiting-approval', 'on-hold', 'retrying', 'scheduled', 'held')
        and undone is not null
        and not exists (select 1 from open_subjects o where o.subject = l.payable_id)`;
    return this.all(text, businessMs).map((row) => ({
      payableId: String(row["payable_id"]),
      what: `${String(row["payable_id"])} of ${String(row["run_id"])} is ${String(row["state"])}, though ${String(row["undone"])}`,
    }));
  }

  /**
   * Returns the retries, incidents, cancellations and deposits that have not ended well and caused
   * no notice.
   *
   * @param dueBy a deposit that was to arrive before this day of New York is late
   */
  untoldWork(dueBy: string): { readonly what: string; readonly about: string }[] {
    return this.all(UNTOLD_WORK, dueBy).map((row) => ({
      what: String(row["what"]),
      about: String(row["about"]),
    }));
  }

  /** True if people were asked for the deposit that a run's bills wait for. */
  isAskedForMoney(runId: string): boolean {
    const text = "select 1 from notices where kind = 'top-up-needed' and run_id = ?";
    return this.all(text, runId).length > 0;
  }
}

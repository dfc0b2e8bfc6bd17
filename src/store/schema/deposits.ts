import type { TopUpState } from "../../contracts/deposit.ts";
import { flag, integer, integerOrNull, json, table, text, textOrNull, word } from "./table.ts";

/** Deposits into the balance that runs and incidents have requested. */
export const topUpTables = {
  /** A requested deposit into a funding source. */
  top_ups: table(["business_id", "subject"], {
    business_id: text,
    /** Its name in the attempt ledger, and in decisions and approvals. */
    subject: text,
    business: text,
    source_id: text,
    /** Workflow that needs the money: a run or an incident. */
    owner: text,
    /** 1, 2, … for this owner and source. */
    request_no: integer,
    /** Run whose playbook allows it. */
    policy_run_id: text,
    state: word<TopUpState>(),
    amount_cents: integer,
    needed_on: text,
    make_by: text,
    arrives_on: text,
    /** True if it arrives too late, however soon it is made. */
    late: flag,
    bank_account_id: text,
    bank_name: textOrNull,
    bank_last4: textOrNull,
    plan_hash: text,
    /** The hash that an approval of it names. */
    hash: text,
    /** JSON array of roles. */
    approvers: json<readonly string[]>(),
    quorum: integer,
    transaction_id: textOrNull,
    reason_code: textOrNull,
    reason: textOrNull,
    /** Service-clock instant before which nothing is sent or looked up. */
    not_before_ms: integer,
    /** Service-clock instant since which it has made no progress. */
    back_off_since_ms: integerOrNull,
    /** Business-clock instant of its last change. */
    since_ms: integer,
    /** Business-clock instant of the next read of the transaction. */
    poll_at_ms: integer,
    created_at_ms: integer,
    updated_at_ms: integer,
  }),
};

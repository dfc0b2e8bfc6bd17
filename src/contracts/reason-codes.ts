/** What people need to know of a reason code. */
export interface ReasonText {
  readonly means: string;
  /** What a person does about it. */
  readonly remedy: string;
}

const NOTHING = "Nothing.";
const NEXT_RUN = "Nothing: the next run plans it and asks.";
const IN_SERVICE = "Correct it in the service; the next run plans it again.";
const BY_ITSELF = "Nothing: it goes on by itself.";
const RETRY_AFTER = "Correct what the reason names, then `payrun resolve BILL --retry`.";

/** Each bill that a plan leaves out has one of these. */
const leftOut = {
  paid: { means: "Nothing is owed on it any more.", remedy: NOTHING },
  already_on_its_way: { means: "Payments of what is owed are on their way.", remedy: NOTHING },
  not_due: { means: "It is due after the days that this run pays.", remedy: NEXT_RUN },
  no_due_date: { means: "It has no due date, which the playbook needs.", remedy: IN_SERVICE },
  not_approved: { means: "The bill itself is not approved in the service.", remedy: IN_SERVICE },
  declined: { means: "It was declined in the service.", remedy: IN_SERVICE },
  blocked: { means: "It is blocked in the service.", remedy: IN_SERVICE },
  void: { means: "It is void in the service.", remedy: NOTHING },
  where_not_met: { means: "The playbook's `where` leaves it out.", remedy: NOTHING },
  condition_failed: {
    means: "A condition of the playbook can't be judged for it.",
    remedy: "Correct the condition, or in the service the field that the reason names.",
  },
  no_vendor: { means: "It has no vendor.", remedy: "Link one in the service." },
  vendor_not_payable: {
    means: "Its vendor is not active, has no valid bank account, or is not listed.",
    remedy: IN_SERVICE,
  },
  on_hold: { means: "A hold applies to it.", remedy: "`payrun holds`, then `payrun release`." },
  claimed: { means: "Another run or retry has it.", remedy: NOTHING },
  unreadable: {
    means: "A field of it, of its vendor or of a payment can't be read.",
    remedy: IN_SERVICE,
  },
  more_than_owed: {
    means: "More was asked for than is owed.",
    remedy: "Ask for what is owed (`payrun pay BILL --amount MONEY`).",
  },
  unknown_bill: { means: "The service lists no bill with this id.", remedy: "Check the id." },
} as const satisfies Readonly<Record<string, ReasonText>>;

/** Why a bill of a run, or its retry, stands where it stands. */
const bill = {
  on_hold: { means: "A hold applies to it.", remedy: "`payrun holds`, then `payrun release`." },
  plan_only: { means: "Its playbook's schedule only plans.", remedy: NOTHING },
  dropped: {
    means: "An approver has left it out.",
    remedy: "Nothing: the next run plans it and asks. `payrun hold BILL` puts it on hold.",
  },
  rejected: {
    means: "People have rejected its run, or the bill in another run.",
    remedy: NEXT_RUN,
  },
  run_cancelled: { means: "Its run was cancelled before it was sent.", remedy: NEXT_RUN },
  not_approved: { means: "It has no valid approval any more.", remedy: NEXT_RUN },
  approval_expired: { means: "No valid approval of it is stored any more.", remedy: NEXT_RUN },
  changed_since_approval: {
    means: "What would be paid now is not what was approved.",
    remedy: "Approve it again, in this run or the next.",
  },
  changed_record: {
    means: "The vendor's record was changed after the approval.",
    remedy: "Say whether the account is still right (`payrun approve RUN --same-account VENDOR`).",
  },
  record_changed_after_approval: {
    means: "The vendor's record was changed once the payment was scheduled, which is cancelled.",
    remedy: "Check the vendor with a person you know, then release the hold.",
  },
  payee_changed_after_approval: {
    means: "The vendor's account is not the approved one any more; the payment is cancelled.",
    remedy: "Check the account with the vendor, then release the hold.",
  },
  more_than_owed: {
    means: "The payment on its way is more than is owed, and is cancelled.",
    remedy: "Compare the bill with its payments in the service, then release the hold.",
  },
  vendor_not_found: {
    means: "The service doesn't know the vendor of a payment that is on its way.",
    remedy: "Find out in the service what became of the vendor.",
  },
  over_bill_limit: {
    means: "It is above the limit for a bill.",
    remedy: "Raise `limits.bill`, or pay a part.",
  },
  over_vendor_week_limit: {
    means: "Its vendor's week would be above its limit.",
    remedy: "Raise `limits.vendorPerWeek`, or leave it to a later week.",
  },
  over_business_week_limit: {
    means: "The business's week would be above its limit.",
    remedy: "Raise `limits.businessPerWeek`, or leave it to a later week.",
  },
  no_ach_authorization: {
    means: "The profile has no ACH authorization that still counts.",
    remedy: "Set `achAuthorization`, then `payrun resolve BILL --retry`.",
  },
  funding_short: {
    means: "Its funding account has too little money.",
    remedy: "Deposit money; it is paid once there is enough.",
  },
  approval_required: {
    means: "The service wants the bill itself approved first.",
    remedy: "Approve it in the service.",
  },
  contact_not_payable: {
    means: "The service can't pay the vendor now.",
    remedy: "Enter or verify the vendor's bank account in the service.",
  },
  payable_declined: {
    means: "It was declined in the service.",
    remedy: "Nothing, unless that is a mistake.",
  },
  payable_blocked: {
    means: "It was blocked in the service.",
    remedy: "Nothing, unless that is a mistake.",
  },
  payable_void: {
    means: "It is void in the service.",
    remedy: "Nothing, unless that is a mistake.",
  },
  payable_not_approved: {
    means: "It is not approved in the service any more.",
    remedy: "Approve it there, unless it isn't to be paid.",
  },
  bill_contradicts_payments: {
    means: "The service says two things about what of it is paid.",
    remedy: "Ask the service which is true.",
  },
  condition_failed: {
    means: "What is owed has changed, and a condition can't be judged for it.",
    remedy: RETRY_AFTER,
  },
  not_found: {
    means: "The service doesn't know the bill or its vendor any more.",
    remedy: RETRY_AFTER,
  },
  unreadable: { means: "The service's answer about it can't be used.", remedy: RETRY_AFTER },
  validation_error: { means: "The service refuses the payment's fields.", remedy: RETRY_AFTER },
  payment_not_cancellable: {
    means: "The service says that its payment can't be cancelled any more.",
    remedy: NOTHING,
  },
  refused: { means: "The service has refused it under several keys.", remedy: RETRY_AFTER },
  unaccounted: {
    means: "The service shows a payment of it that no request on record explains.",
    remedy: "Find out at the service who made it, then `payrun resolve BILL`.",
  },
  answer_unknown: {
    means: "A request got no conclusive answer and may still pay.",
    remedy: "Nothing: Payrun asks the service until that is certain.",
  },
  waits: { means: "Nothing came of the last try.", remedy: BY_ITSELF },
  unknown_reason: {
    means: "It failed, and the reason fits no return code.",
    remedy: "Ask the bank or the vendor, then `payrun resolve BILL`.",
  },
  retries_used_up: {
    means: "Nacha's rules allow no other try under its approval.",
    remedy: "`payrun resolve BILL --retry`: the next run asks for a new approval.",
  },
  partly_failed: {
    means: "A part of a split payment has failed.",
    remedy: "`payrun resolve BILL --retry`, or settle that part another way.",
  },
  partly_paid: {
    means: "Only a part of its amount was paid.",
    remedy: "Compare it with the bank.",
  },
  paid_elsewhere: { means: "It was paid, and not by this run.", remedy: NOTHING },
  other_source: {
    means: "It bounced, and a person wants it paid from another account.",
    remedy: NEXT_RUN,
  },
  given_up: { means: "It is not paid: a person or its playbook has given it up.", remedy: NOTHING },
} as const satisfies Readonly<Record<string, ReasonText>>;

/** What everything of a business, or of one funding source, waits for. */
const wait = {
  unauthorized: { means: "The service refuses the token.", remedy: "Correct the profile's token." },
  forbidden: {
    means: "The token may not pay or cancel, or may not read payments.",
    remedy: "Give it the scope that the wait names.",
  },
  forbidden_read: {
    means: "The token lacks a scope for a read that runs need.",
    remedy: "Give it the scope that the wait names.",
  },
  forbidden_for_payments: {
    means: "The token may not read details of bills or vendors that paying needs.",
    remedy: "Give it the scope that the wait names.",
  },
  rate_limited: { means: "The service asks for a pause.", remedy: BY_ITSELF },
  unreachable: { means: "Payments can't be read: the service doesn't answer.", remedy: BY_ITSELF },
  unreadable: {
    means: "Payments can't be read: the service's answers are not as documented.",
    remedy: "Ask the service.",
  },
  unreachable_read: {
    means: "Something else that runs need can't be read: the service doesn't answer.",
    remedy: BY_ITSELF,
  },
  unreadable_read: {
    means: "Something else that runs need can't be read: the answers are not as documented.",
    remedy: "Ask the service.",
  },
  source_unavailable: {
    means: "The service says that the funding source can't pay.",
    remedy: "Set the source up in the service.",
  },
  insufficient_balance: { means: "The balance is too low.", remedy: "Deposit money." },
  payments_locked: { means: "The service has locked payments.", remedy: "Ask the service." },
  setup_required: {
    means: "The business is not set up.",
    remedy: "Finish the set-up in the service.",
  },
  setup_incomplete: {
    means: "The business's set-up is not complete.",
    remedy: "Finish the set-up in the service.",
  },
  feature_unavailable: {
    means: "The business lacks a feature that the payment needs.",
    remedy: "Have the service turn it on.",
  },
} as const satisfies Readonly<Record<string, ReasonText>>;

/** Why a decision that was sent straight to Temporal doesn't reach those who judge decisions. */
const sentDecision = {
  not_found: { means: "The run is not in the store.", remedy: "Check the run's id." },
  too_many_decisions: {
    means: "The run reads no more decisions that are sent straight to Temporal.",
    remedy: "Send them to the gateway.",
  },
} as const satisfies Readonly<Record<string, ReasonText>>;

/** What `status`, `doctor` and `GET /v1/conditions` report; `docs/health.md` says more. */
const condition = {
  store_not_writable: {
    means: "Nothing can be written to the store.",
    remedy: "Make room, or mend the server.",
  },
  store_behind: {
    means: "The store is, or may be, older than what Payrun has done.",
    remedy: "Compare, then release the hold on everything.",
  },
  run_not_started: {
    means: "A schedule's run is late.",
    remedy: "Start a worker; see that Temporal answers.",
  },
  decision_due: { means: "A run's dates change soon unless somebody decides.", remedy: "Decide." },
  bill_in_doubt: {
    means: "The service hasn't said for an hour what became of a request.",
    remedy: "`payrun explain BILL`, then ask the service.",
  },
  events_undispatched: {
    means: "Events have reached no workflow for minutes.",
    remedy: "See that the gateway reaches Temporal.",
  },
  webhooks_missed: {
    means: "No webhook has brought events that the service sent.",
    remedy: "Check address, TLS and `webhookSecrets`.",
  },
  temporal_unreachable: { means: "Temporal doesn't answer.", remedy: "Start it, or mend the way." },
  no_worker: { means: "Nothing is heard from any worker.", remedy: "Start `payrun worker`." },
  worker_silent: { means: "One of several workers is frozen or gone.", remedy: "End its process." },
  key_missing: {
    means: "A process lacks an encryption key that is in use.",
    remedy: "Give all of them the same `PAYRUN_ENCRYPTION_KEYS`.",
  },
  clock_skew: { means: "A clock differs.", remedy: "Set the clocks by a time server." },
  webhooks_paused: {
    means: "The service has paused our webhook endpoint.",
    remedy: "Mend what its message names, then `payrun doctor --fix`.",
  },
  nobody_told: {
    means: "A profile has no channel that takes important notices.",
    remedy: "Add one under `notify:`.",
  },
  notices_undelivered: {
    means: "Some notices have not reached everyone.",
    remedy: "`payrun notices --undelivered`.",
  },
  token_expires: { means: "A token ends soon.", remedy: "`payrun token create`." },
  nobody_approves: {
    means: "A playbook asks for a role that nobody has.",
    remedy: "Give someone that role, or correct it.",
  },
} as const satisfies Readonly<Record<string, ReasonText>>;

/**
 * Every reason code that leaves Payrun, by what it is about: in answers, notices, Temporal, the
 * trail and metrics. States, phases, kinds, actions and flags are no codes.
 */
export const REASON_CODES = { leftOut, bill, wait, sentDecision, condition } as const;

type About = keyof typeof REASON_CODES;
type CodesOf<Of extends About> = keyof (typeof REASON_CODES)[Of];

export type LeftOutCode = CodesOf<"leftOut">;
export type BillCode = CodesOf<"bill">;

/** For a bill above a limit. */
export type OverLimitCode = Extract<BillCode, `over_${string}_limit`>;
export type WaitCode = CodesOf<"wait">;
export type SentDecisionCode = CodesOf<"sentDecision">;
export type ConditionCode = CodesOf<"condition">;

type Digit = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";

/** The code that Nacha's rules give the reason of a return. */
export type BankReturnCode = `R${Digit}${Digit}`;

/** Reason code of a line: one of ours, or the bank's. */
export type LineReason = BillCode | BankReturnCode;

export const LEFT_OUT_CODES = Object.keys(leftOut) as readonly LeftOutCode[];
export const BILL_CODES = Object.keys(bill) as readonly BillCode[];
export const SENT_DECISION_CODES = Object.keys(sentDecision) as readonly SentDecisionCode[];
export const CONDITION_CODES = Object.keys(condition) as readonly ConditionCode[];

import type { ErrorFacts } from "./facts.ts";

const READ_AGAIN = "Read the run again, and decide on what it shows now.";
const ANOTHER_PERSON = "Have another person decide.";
const SIGN_AGAIN = "Sign the decision again, as docs/approvals.md says.";

/** Why a decision about a run doesn't count, by token, by signature or through Temporal. */
export const DECISION_ERRORS = {
  launcher: {
    status: 403,
    means: "The approver launched the run.",
    remedy: ANOTHER_PERSON,
  },
  playbook_author: {
    status: 403,
    means: "The approver has changed the run's playbook.",
    remedy: ANOTHER_PERSON,
  },
  launchers_token: {
    status: 403,
    means: "The run's launcher made the approver's token after the launch.",
    remedy: "Approve with an older token, or cancel the run and launch it again.",
  },
  role_missing: {
    status: 403,
    means: "The decision takes a role that its sender lacks.",
    remedy: "Have a person with one of the roles that `message` names decide.",
  },
  counted_before: {
    status: 403,
    means: "The approver has approved in another stage, and a person counts in one.",
    remedy: ANOTHER_PERSON,
  },
  sign_in_too_old: {
    status: 403,
    means: "An approval of this sum takes a more recent sign-in.",
    remedy: "Sign in again, then approve.",
  },
  unknown_key: {
    status: 403,
    means: "A decision is signed with a key that the business doesn't know.",
    remedy: "Sign with a key of the profile's `signers`.",
  },
  bad_signature: {
    status: 403,
    means: "A decision's signature is not by the key that it names.",
    remedy: SIGN_AGAIN,
  },
  wrong_principal: {
    status: 403,
    means: "A signed decision's `iss` is not the owner of the key.",
    remedy: SIGN_AGAIN,
  },
  foreign: {
    status: 403,
    means: "A signed decision is for another run (`sub`) or another recipient (`aud`).",
    remedy: SIGN_AGAIN,
  },
  expired: {
    status: 403,
    means: "A signed decision has expired.",
    remedy: SIGN_AGAIN,
  },
  not_yet_valid: {
    status: 403,
    means: "A signed decision was issued in the future.",
    remedy: "Set the signer's clock, and sign again.",
  },
  run_ended: {
    status: 409,
    means: "The run has ended, or is being cancelled.",
    remedy: "Nothing is left to do in it.",
  },
  plan_only: {
    status: 409,
    means: "The run only plans, so nothing of it is decided.",
    remedy: "Apply its playbook without `mode: plan-only`, and launch it again.",
  },
  no_plan: {
    status: 409,
    means: "The run has no plan yet.",
    remedy: "Read the run until it has a `planHash`.",
  },
  stale_plan: {
    status: 409,
    means: "The plan has changed since its `planHash` was read.",
    remedy: READ_AGAIN,
  },
  stale_record: {
    status: 409,
    means: "A vendor's record has changed since it was read.",
    remedy: READ_AGAIN,
  },
  already_sent: {
    status: 409,
    means: "A bill to leave out was sent already, so this decision can't leave it out.",
    remedy: "Cancel its payment (`POST /v1/cancellations`) while the service still can.",
  },
  may_be_paid: {
    status: 409,
    means: "A request whose effect is not known yet may still pay the bill.",
    remedy: "Decide again once that is known; a hold keeps the bill from being sent again.",
  },
  stage_not_open: {
    status: 409,
    means: "Others decide first: an earlier stage of the approval is open.",
    remedy: "Decide again once the stage is open.",
  },
  nothing_left: {
    status: 409,
    means: "Nothing waits for this decision any more.",
    remedy: "Nothing is left to do.",
  },
  trail_differs: {
    status: 409,
    means: "The store says something else than the audit trail.",
    remedy: "Run `payrun audit verify` on the store's host.",
  },
  replayed: {
    status: 409,
    means: "Another signed decision with this id was taken; `details.earlier` says how.",
    remedy: "Give each decision a `jti` of its own.",
  },
  unknown_payable: {
    status: 422,
    means: "A bill to leave out is not in this plan, or nothing of it is left to decide.",
    remedy: "Leave it away; any bill can be put on hold.",
  },
  bank_change_unverified: {
    status: 422,
    means: "The decision doesn't say how vendors' new bank accounts were verified.",
    remedy: "Add `verifiedBankChanges` for `details.contactIds`, or leave their bills out.",
  },
  not_rejectable: {
    status: 422,
    means: "A vendor's account that isn't right is no rejection.",
    remedy: "Hold the vendor, or leave its bills out.",
  },
  malformed: {
    status: 422,
    means: "A signed decision is malformed.",
    remedy: SIGN_AGAIN,
  },
  lives_too_long: {
    status: 422,
    means: "A signed decision would be valid for more than a day.",
    remedy: SIGN_AGAIN,
  },
} as const satisfies Readonly<Record<string, ErrorFacts>>;

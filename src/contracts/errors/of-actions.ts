import type { ErrorFacts } from "./facts.ts";

const NAME_BUSINESS = "Name one of the businesses that `message` lists.";

/** Why an action can't be done, as asked or as things stand. */
export const ACTION_ERRORS = {
  other_inputs: {
    status: 409,
    means: "The run of this period was launched with other inputs.",
    remedy: "Leave `inputs` out to join the run.",
  },
  already_decided: {
    status: 409,
    means: "The incident's decision was taken before.",
    remedy: "Nothing is left to do; `message` says what was decided.",
  },
  not_confirmed: {
    status: 409,
    means: "This person can't confirm it.",
    remedy: "Have a second person confirm it.",
  },
  stale_proposal: {
    status: 409,
    means: "The proposed text has changed since its hash was read.",
    remedy: "Read the proposal again, and confirm its new hash.",
  },
  stale_holds: {
    status: 409,
    means: "The holds, or what goes out without them, have changed since they were read.",
    remedy: "Read them again, and release with the new hash.",
  },
  changed_meanwhile: {
    status: 409,
    means: "Somebody has put another text of the playbook into force meanwhile.",
    remedy: "Read it, and apply yours again.",
  },
  schedule_busy: {
    status: 409,
    means: "Another request is changing the schedule.",
    remedy: "Send the request again in a moment.",
  },
  not_parked: {
    status: 409,
    means: "Only a parked bill can be resolved, and this one isn't parked.",
    remedy: "Read the bill's history: it says what the bill waits for.",
  },
  given_back: {
    status: 409,
    means: "The bill was given back to the next run already.",
    remedy: "Wait for the next run, which plans it.",
  },
  not_approved: {
    status: 409,
    means: "The bill has no valid approval, so it can't be retried.",
    remedy: "Wait for the next run, which asks for an approval.",
  },
  owned_elsewhere: {
    status: 409,
    means: "Another run or retry plans or pays the bill.",
    remedy: "Look at the run that `details.owner` names.",
  },
  attempt_live: {
    status: 409,
    means: "A request whose effect is not known yet may still pay the bill.",
    remedy: "Resolve it again once that is known.",
  },
  look_alike: {
    status: 409,
    means: "The name looks like another person's.",
    remedy: "Take a name that can't be mistaken for another.",
  },
  no_channel: {
    status: 409,
    means: "No channel of the business takes such a notice.",
    remedy: "Add a channel to the profile, then try again.",
  },
  onboarding_ended: {
    status: 409,
    means: "The onboarding has ended.",
    remedy: "Launch its playbook again.",
  },
  other_text: {
    status: 409,
    means: "The text that was signed is not the one in force.",
    remedy: "Read the text in the onboarding's status, and sign again.",
  },
  business_ambiguous: {
    status: 422,
    means: "Several businesses could be meant.",
    remedy: NAME_BUSINESS,
  },
  business_unknown: {
    status: 422,
    means: "No business of that name is configured.",
    remedy: NAME_BUSINESS,
  },
  other_business: {
    status: 422,
    means: "The playbook belongs to another business than the request names.",
    remedy: "Name its own business, or none.",
  },
  playbook_ambiguous: {
    status: 422,
    means: "Several playbooks pay bills, or none does.",
    remedy: "Name a playbook.",
  },
  no_pay_run: {
    status: 422,
    means: "What is named is no pay run, or no playbook that pays bills.",
    remedy: "Name a pay run, or a playbook of kind `pay-run`.",
  },
  not_a_period: {
    status: 422,
    means: "The playbook's schedule doesn't have this date.",
    remedy: "Take the date that `details.next` names, or launch with `force: true`.",
  },
  playbook_only_plans: {
    status: 422,
    means: "The playbook's schedule only plans, so nothing is paid under it.",
    remedy: "Name another playbook, or apply it without `mode: plan-only`.",
  },
  unknown_inputs: {
    status: 422,
    means: "A playbook of this kind doesn't take an input of the launch.",
    remedy: "Leave out what `details.unknown` names.",
  },
  period_without_meaning: {
    status: 422,
    means: "A playbook of this kind has no period.",
    remedy: "Leave `period` out.",
  },
  not_launched: {
    status: 422,
    means: "Events or failures start this playbook; nobody launches it.",
    remedy: "Leave it to them.",
  },
  no_open_run: {
    status: 422,
    means: "No run is under way whose bills could be held back.",
    remedy: "Nothing: bills are held back as soon as a run is planned.",
  },
  unknown_playbook: {
    status: 422,
    means: "The playbook names a pay-run playbook that isn't stored.",
    remedy: "Apply that playbook first.",
  },
  unknown_failure_playbook: {
    status: 422,
    means: "`onFailure` names a playbook that isn't stored.",
    remedy: "Apply that playbook first, or leave `onFailure` out.",
  },
  invalid_playbook: {
    status: 422,
    means: "The playbook has mistakes; `details` has each with its line and column.",
    remedy: "Correct them; `payrun validate` shows them too.",
  },
  limits_above_business: {
    status: 422,
    means: "A limit of the playbook is laxer than its business's.",
    remedy: "Lower it, or leave it out.",
  },
  no_schedule: {
    status: 422,
    means: "The playbook has no schedule.",
    remedy: "Launch it, or add a schedule.",
  },
  not_missed: {
    status: 422,
    means: "The schedule hasn't missed a run of this date.",
    remedy: "Take a date that it has missed, or none for all of them.",
  },
  plan_failed: {
    status: 422,
    means: "No plan can be made.",
    remedy: "Do what `message` says.",
  },
  nothing_to_plan: {
    status: 422,
    means: "The playbook pays no bills, so there is nothing to plan.",
    remedy: "Name a playbook of kind `pay-run`.",
  },
  amount_of_many: {
    status: 422,
    means: "An amount was given for several bills.",
    remedy: "Name a single bill.",
  },
  no_bank_table: {
    status: 422,
    means: "Only a pay run has a bank table.",
    remedy: "Ask for the table of the run that the bill belongs to.",
  },
  bad_period: {
    status: 422,
    means: "The period ends before it begins.",
    remedy: "Correct `from` and `to`.",
  },
  until_past: {
    status: 422,
    means: "The hold would end in the past.",
    remedy: "Take a later `until`.",
  },
  expires_past: {
    status: 422,
    means: "The token would have expired already.",
    remedy: "Take a later `expiresAt`.",
  },
  no_target: {
    status: 422,
    means: "The hold names nothing.",
    remedy: "Name what it is on, or `all: true`.",
  },
  several_named: {
    status: 422,
    means: "More than one thing is named, and a stop is of one.",
    remedy: "Name one of them.",
  },
  no_such_hold: {
    status: 422,
    means: "No such hold is in force.",
    remedy: "Read `GET /v1/holds`.",
  },
  no_top_up: {
    status: 422,
    means: "No deposit is proposed for the incident.",
    remedy: "Do what `message` says.",
  },
  no_top_up_hash: {
    status: 422,
    means: "The decision doesn't name the deposit that was looked at.",
    remedy: "Add `topUpHash`, from `topUps` of `GET /v1/incidents`.",
  },
} as const satisfies Readonly<Record<string, ErrorFacts>>;

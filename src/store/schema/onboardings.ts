import type {
  HeldUp,
  InputState,
  NextStep,
  OnboardingPhase,
  ProvidedStep,
} from "../../contracts/onboarding.ts";
import type { KybOnboardingPlaybook } from "../../contracts/playbook.ts";
import { flag, integer, integerOrNull, json, readAs, table, text, textOrNull } from "./table.ts";

/** What may be stored of an input outside the vault. */
export interface InputFacts {
  /** The person who signs or certifies, as they wrote their name, and when: ISO 8601. */
  readonly name?: string;
  readonly at?: string;
  /** Sent although the service has another one on file, or a person who may be the same one. */
  readonly replace?: boolean;
  readonly another?: boolean;
  /** A person allows the use of the last attempt that a bank account has left. */
  readonly lastAttempt?: boolean;
  readonly documentType?: string;
  /** What a bank account showed before an attempt was sent. */
  readonly attemptsBefore?: number;
  /** The bank account that the attempt was for. */
  readonly accountId?: string;
  /** Why it can't be sent now, although the data is not to blame. */
  readonly heldUp?: HeldUp;
}

/** Businesses taken through KYB, what people provided for it, and the vault for personal data. */
export const onboardingTables = {
  /** Personal data, encrypted; deleted as soon as it is no longer needed. */
  vault: table(["vault_ref"], {
    /** Opaque: how other tables, workflows and logs refer to the value. */
    vault_ref: text,
    business_id: text,
    kind: text,
    /** Key that it is encrypted under. */
    key_id: text,
    /** Base64. */
    nonce: text,
    /** Base64, the authentication tag at its end. */
    ciphertext: text,
    created_at_ms: integer,
  }),
  /** One business's way through KYB; a launch after its end begins the row's next round. */
  onboardings: table(["business_id"], {
    /** The API's businessId. */
    business_id: text,
    /** The profile's name. */
    business: text,
    workflow_id: text,
    /** 1, 2, …: one more for each launch after its end. */
    round: integer,
    playbook: text,
    playbook_revision: integer,
    /** Compiled playbook as JSON: a running onboarding keeps its revision. */
    policy: json<KybOnboardingPlaybook>(),
    phase: readAs<OnboardingPhase>(),
    waiting_for: textOrNull,
    needs_action: flag,
    /** What the service says must be done, as JSON. */
    next_steps: json<readonly NextStep[]>(),
    /** Identifies what the onboarding waits for; another key begins another wait. */
    wait_key: text,
    /** Beginning of the wait, on the business clock and in real time. */
    wait_since_ms: integer,
    wait_since_real_ms: integer,
    /** How many reminders were sent in that wait. */
    reminders: integer,
    /** Text of a first playbook, for a person to store. */
    proposal: textOrNull,
    launched_by: text,
    launched_by_token_id: textOrNull,
    launched_at_ms: integer,
    updated_at_ms: integer,
    ended_at_ms: integerOrNull,
  }),
  /** One input that a person gave for a step. */
  onboarding_inputs: table(["input_id"], {
    input_id: text,
    business_id: text,
    round: integer,
    /** 1, 2, … within a round. */
    input_no: integer,
    step: readAs<ProvidedStep>(),
    /** JSON; nothing personal except the names of people who signed or certified. */
    facts: json<InputFacts>(),
    /** Null if nothing in it is personal, and once the value has been deleted. */
    vault_ref: textOrNull,
    state: readAs<InputState>(),
    reason: textOrNull,
    sends: integer,
    /** The service's clock at the last send that has no answer yet. */
    sent_at_ms: integerOrNull,
    provided_by: text,
    provided_at_ms: integer,
  }),
};

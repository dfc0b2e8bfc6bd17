import type {
  InputState,
  NextStep,
  OnboardingPhase,
  ProvidedStep,
} from "../../contracts/onboarding.ts";
import type { KybOnboardingPlaybook } from "../../contracts/playbook.ts";
import type { HeldUp } from "../../domain/onboarding/decide.ts";
import { flag, integer, integerOrNull, json, readAs, table, text, textOrNull } from "./table.ts";

/** What may be known of an input outside the vault. */
export interface InputFacts {
  /** Who signs or certifies, as they wrote their name, and when: ISO 8601. */
  readonly name?: string;
  readonly at?: string;
  /** Sent although the service has another one on file, or somebody who may be the same person. */
  readonly replace?: boolean;
  readonly another?: boolean;
  /** A person allows the last attempt that a bank account has left. */
  readonly lastAttempt?: boolean;
  readonly documentType?: string;
  /** What a bank account showed before an attempt was sent. */
  readonly attemptsBefore?: number;
  /** The bank account that the attempt was for. */
  readonly accountId?: string;
  /** Why it can't be sent now, although the data is not to blame. */
  readonly heldUp?: HeldUp;
}

/** Businesses taken through KYB, what people gave for it, and the vault for what is personal. */
export const onboardingTables = {
  /** What is personal, encrypted; deleted as soon as nobody needs it any more. */
  vault: table(["vault_ref"], {
    /** Opaque: what other tables, workflows and logs call the value by. */
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
  /** One business's way through KYB; launched again, the row begins its next round. */
  onboardings: table(["business_id"], {
    /** The API's businessId. */
    business_id: text,
    /** The profile's name. */
    business: text,
    workflow_id: text,
    /** 1, 2, …: one more each time it is launched after its end. */
    round: integer,
    playbook: text,
    playbook_revision: integer,
    /** Compiled playbook as JSON: a running onboarding keeps its revision. */
    policy: json<KybOnboardingPlaybook>(),
    phase: readAs<OnboardingPhase>(),
    waiting_for: textOrNull,
    needs_action: flag,
    /** What the service says is to be done, as JSON. */
    next_steps: json<readonly NextStep[]>(),
    /** Names what is waited for; another name begins another wait. */
    wait_key: text,
    /** Begin of the wait on the business clock, and in real time. */
    wait_since_ms: integer,
    wait_since_real_ms: integer,
    /** How often somebody has been reminded in that wait. */
    reminders: integer,
    /** Text of a first playbook, for a person to store. */
    proposal: textOrNull,
    launched_by: text,
    launched_by_token_id: textOrNull,
    launched_at_ms: integer,
    updated_at_ms: integer,
    ended_at_ms: integerOrNull,
  }),
  /** One thing that a person gave for a step. */
  onboarding_inputs: table(["input_id"], {
    input_id: text,
    business_id: text,
    round: integer,
    /** 1, 2, … in a round. */
    input_no: integer,
    step: readAs<ProvidedStep>(),
    /** JSON; nothing personal but the names of who signed or certified. */
    facts: json<InputFacts>(),
    /** Null where nothing of it is personal, and once the value has been deleted. */
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

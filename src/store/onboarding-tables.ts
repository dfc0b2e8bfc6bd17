/** What is personal, encrypted; deleted as soon as nobody needs it any more. */
export interface VaultTable {
  /** Opaque: what other tables, workflows and logs call the value by. */
  vault_ref: string;
  business_id: string;
  kind: string;
  /** Key that it is encrypted under. */
  key_id: string;
  /** Base64. */
  nonce: string;
  /** Base64, the authentication tag at its end. */
  ciphertext: string;
  created_at_ms: number;
}

/** One business's way through KYB; launched again, the row begins its next round. */
export interface OnboardingsTable {
  /** The API's businessId. */
  business_id: string;
  /** The profile's name. */
  business: string;
  workflow_id: string;
  /** 1, 2, …: one more each time it is launched after its end. */
  round: number;
  playbook: string;
  playbook_revision: number;
  /** Compiled playbook as JSON: a running onboarding keeps its revision. */
  policy: string;
  phase: string;
  waiting_for: string | null;
  needs_action: number;
  /** What the service says is to be done, as JSON. */
  next_steps: string;
  /** Names what is waited for; another name begins another wait. */
  wait_key: string;
  /** Begin of the wait on the business clock, and in real time. */
  wait_since_ms: number;
  wait_since_real_ms: number;
  /** How often somebody has been reminded in that wait. */
  reminders: number;
  /** Text of a first playbook, for a person to store. */
  proposal: string | null;
  launched_by: string;
  launched_by_token_id: string | null;
  launched_at_ms: number;
  updated_at_ms: number;
  ended_at_ms: number | null;
}

/** One thing that a person gave for a step. */
export interface OnboardingInputsTable {
  input_id: string;
  business_id: string;
  round: number;
  /** 1, 2, … in a round. */
  input_no: number;
  step: string;
  /** JSON; nothing personal but the names of who signed or certified. */
  facts: string;
  /** Null where nothing of it is personal, and once the value has been deleted. */
  vault_ref: string | null;
  state: string;
  reason: string | null;
  sends: number;
  /** The service's clock at the last send that has no answer yet. */
  sent_at_ms: number | null;
  provided_by: string;
  provided_at_ms: number;
}

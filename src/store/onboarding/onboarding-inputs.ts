import { randomUUID } from "node:crypto";
import type { Transaction } from "kysely";
import type { HeldUp, InputState } from "../../contracts/onboarding.ts";
import { asColumns, readerOf, type RecordOf } from "../sql/as-record.ts";
import type { Db } from "../sql/db.ts";
import { changeRecords, findAll, findOne } from "../sql/records.ts";
import type { Tables } from "../schema/tables.ts";
import { deleteVaultRows } from "./vault.ts";

/** One input that a person gave for a step. */
export type OnboardingInput = RecordOf<"onboarding_inputs">;

const toInput = readerOf("onboarding_inputs");

export async function insertInput(
  trx: Transaction<Tables>,
  input: Pick<OnboardingInput, "businessId" | "round" | "step" | "facts" | "vaultRef"> & {
    readonly providedBy: string;
    readonly nowMs: number;
  },
): Promise<OnboardingInput> {
  const { businessId, round, step, facts, vaultRef, providedBy } = input;
  const last = await trx
    .selectFrom("onboarding_inputs")
    .select((of) => of.fn.max("input_no").as("no"))
    .where("business_id", "=", businessId)
    .where("round", "=", round)
    .executeTakeFirst();
  const row = await trx
    .insertInto("onboarding_inputs")
    .values(
      asColumns({
        inputId: `inp_${randomUUID()}`,
        inputNo: (last?.no ?? 0) + 1,
        state: "waiting",
        sends: 0,
        businessId,
        round,
        step,
        facts,
        vaultRef,
        providedBy,
        providedAtMs: input.nowMs,
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
  return toInput(row);
}

/** Returns the inputs of a round, first to last. */
export function listInputs(db: Db, businessId: string, round: number): Promise<OnboardingInput[]> {
  return findAll(db, "onboarding_inputs", { businessId, round }, ["input_no"]);
}

/** Returns the inputs of all rounds, first to last. */
export function listAllInputs(db: Db, businessId: string): Promise<OnboardingInput[]> {
  return findAll(db, "onboarding_inputs", { businessId }, ["round", "input_no"]);
}

export function getInput(db: Db, inputId: string): Promise<OnboardingInput | undefined> {
  return findOne(db, "onboarding_inputs", { inputId });
}

/**
 * Records that an input is about to be sent, so that after a crash the next process looks first.
 *
 * @returns false if it must not be sent any more: it was replaced, or its onboarding has ended
 */
export async function recordInputSend(
  db: Db,
  input: OnboardingInput,
  sentAtMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("onboarding_inputs")
    .set({
      sends: input.sends + 1,
      sent_at_ms: sentAtMs,
      facts: JSON.stringify(input.facts),
    })
    .where("input_id", "=", input.inputId)
    .where("state", "=", "waiting")
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom("onboardings")
          .select("onboardings.business_id")
          .whereRef("onboardings.business_id", "=", "onboarding_inputs.business_id")
          .whereRef("onboardings.round", "=", "onboarding_inputs.round")
          .where("onboardings.ended_at_ms", "is", null),
      ),
    )
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Records what keeps an input from being sent. */
export async function recordHeldUp(db: Db, input: OnboardingInput, heldUp: HeldUp): Promise<void> {
  const waiting = { inputId: input.inputId, state: "waiting" } as const;
  await changeRecords(db, "onboarding_inputs", waiting, { facts: { ...input.facts, heldUp } });
}

/** Records that the send was answered, and had no effect. */
export async function clearInputSend(db: Db, inputId: string): Promise<void> {
  await changeRecords(db, "onboarding_inputs", { inputId }, { sentAtMs: null });
}

/** Ends inputs that wait, and deletes what the vault keeps of them. */
export async function endInputs(
  trx: Transaction<Tables>,
  inputs: readonly OnboardingInput[],
  end: { readonly state: Exclude<InputState, "waiting">; readonly reason: string | null },
): Promise<void> {
  const inputIds = inputs.map(({ inputId }) => inputId);
  if (inputIds.length === 0) return;
  await trx
    .updateTable("onboarding_inputs")
    .set({ state: end.state, reason: end.reason, vault_ref: null, sent_at_ms: null })
    .where("input_id", "in", inputIds)
    .where("state", "=", "waiting")
    .execute();
  await deleteVaultRows(
    trx,
    inputs.flatMap(({ vaultRef }) => (vaultRef === null ? [] : [vaultRef])),
  );
}

import { playbookApplied } from "../../domain/facts/playbooks.ts";
import { record } from "../../store/facts/record.ts";
import type { Transaction } from "kysely";
import type { BusinessProfile } from "../../config/business-profile.ts";
import type { PayRunPlaybook, Playbook } from "../../contracts/playbook.ts";
import { isCancellationPolicy } from "../../domain/cancellations/policy.ts";
import { laxerLimits } from "../../domain/planning/limits.ts";
import { BUILT_IN_FAILURES } from "../../domain/retries/policy.ts";
import { jsonHash } from "../../store/audit/audit-said.ts";
import type { Tables } from "../../store/index.ts";
import {
  applyPlaybook,
  getPlaybook,
  isPayRun,
  type StoredPlaybook,
} from "../../store/playbooks/playbooks.ts";
import { textHash } from "../../store/playbooks/playbook-proposals.ts";
import { scheduleWish } from "../../store/playbooks/schedule-wishes.ts";
import type { ActionContext } from "../context.ts";
import { conflict, unprocessable } from "../errors.ts";
import { syncSchedule } from "./schedules.ts";

/** A playbook that is about to be stored, and the business that it belongs to. */
export interface OwnedText {
  readonly name: string;
  readonly text: string;
  readonly playbook: Playbook;
  readonly profile: BusinessProfile;
}

type Author = Pick<StoredPlaybook, "author" | "authorTokenId">;

export interface Applied {
  readonly name: string;
  readonly business: string;
  readonly revision: number;
  readonly changed: boolean;
  /** What the author of the change should know. */
  readonly note?: string;
}

/**
 * Stores a playbook as its revision in force, and updates its schedule.
 *
 * @param confirmed who confirms the playbook as a second person, and what to do first in the same
 * transaction
 * @throws GatewayError 409 if the business requires a second person and none has confirmed this
 * text, 503 if Temporal can't be reached: repeating the call completes it
 */
export async function storePlaybook(
  context: ActionContext,
  { name, text, playbook, profile }: OwnedText,
  author: Author,
  confirmed?: { readonly by: string; readonly first: (trx: Transaction<Tables>) => Promise<void> },
): Promise<Applied> {
  const nowMs = context.nowMs();
  const { businessId, name: business } = profile;
  const sandboxTime = await sandboxTimeOf(context, profile);
  const { wasDeleted, ...applied } = await context.store.transactionOf(businessId, async (trx) => {
    await confirmed?.first(trx);
    const { kind } = playbook;
    const result = await applyPlaybook(trx, {
      name,
      kind,
      text,
      compiled: playbook,
      business,
      ...author,
      nowMs,
      ...(confirmed === undefined ? {} : { confirmedBy: confirmed.by }),
    });
    // The text was in force when the caller checked, and no longer is.
    if (result.changed && profile.fourEyes === true && confirmed === undefined) {
      throw conflict(
        "changed_meanwhile",
        `A person has put another text of “${name}” into force meanwhile: look at it, and apply yours again as a proposal.`,
      );
    }
    const { deleted } = await scheduleWish(trx, { businessId, playbook: name });
    if (result.changed || deleted) {
      const applying = playbookApplied(
        { businessId, nowMs, by: author.author, subject: name },
        {
          revision: result.revision,
          hash: textHash(text),
          compiled: jsonHash(playbook),
          confirmedBy: confirmed?.by,
          ...sandboxTime,
        },
      );
      await record(trx, applying);
    }
    return { ...result, wasDeleted: deleted };
  });
  // After the store's commit: applying again after a failure here completes it. Another text may be
  // in force by then.
  const inForce = (await getPlaybook(context.store.db, { business, name })) ?? {
    compiled: playbook,
  };
  const { pause } = await syncSchedule(context, { business, name, compiled: inForce.compiled });
  const noted =
    pause !== null
      ? pausedNote(name, pause)
      : wasDeleted && playbook.schedule !== null
        ? { note: "Its schedule had been deleted: it runs by itself again." }
        : await noteOn(context, profile, playbook);
  return { name, business, ...applied, ...noted };
}

/**
 * Returns the instant from which backfills count. A sandbox that can't be read prevents nobody from
 * storing a playbook.
 */
async function sandboxTimeOf(
  context: ActionContext,
  profile: BusinessProfile,
): Promise<{ readonly sandboxTime?: string }> {
  if (!profile.sandbox) return {};
  try {
    const { businessMs } = await context.clocks.read(profile);
    return { sandboxTime: new Date(businessMs).toISOString() };
  } catch {
    return {};
  }
}

function pausedNote(name: string, pause: string): { readonly note: string } {
  return {
    note: `It is paused (${pause}), and begins no run by itself until “payrun schedule resume ${name}”.`,
  };
}

/**
 * Returns what the author should know. It is no error, since the other playbook may still be stored
 * later.
 */
async function noteOn(
  context: ActionContext,
  { name: business }: BusinessProfile,
  playbook: Playbook,
): Promise<{ note?: string }> {
  if (!isCancellationPolicy(playbook)) return {};
  const { run } = playbook.choose;
  if (run === null || (await isPayRun(context.store.db, { business, name: run }))) return {};
  const note = `choose.run names “${run}”, and no pay-run playbook of that name is stored yet: until one is, this chooses nothing.`;
  return { note };
}

/**
 * Checks what a pay-run playbook refers to: its business's limits, and its `onFailure` playbook.
 *
 * @throws GatewayError 422
 */
export async function requireFit(
  context: ActionContext,
  profile: BusinessProfile,
  playbook: PayRunPlaybook,
): Promise<void> {
  const laxer = laxerLimits(playbook.limits, profile.limits);
  if (laxer.length > 0) {
    throw unprocessable(
      "limits_above_business",
      `${laxer.join("; ")}: a playbook can only be stricter, so lower it, or leave it out.`,
    );
  }
  await requireFailurePlaybook(context, profile, playbook);
}

/**
 * Checks that the `onFailure` playbook is stored. An unknown name would silently mean the built-in
 * rules.
 *
 * @throws GatewayError 422
 */
async function requireFailurePlaybook(
  context: ActionContext,
  { name: business }: BusinessProfile,
  { onFailure }: PayRunPlaybook,
): Promise<void> {
  const stored = await getPlaybook(context.store.db, { business, name: onFailure });
  if (stored === undefined && onFailure === BUILT_IN_FAILURES) return;
  if (stored?.compiled.kind === "retry-failed") return;
  throw unprocessable(
    "unknown_failure_playbook",
    `onFailure names “${onFailure}”, and no retry-failed playbook of that name is stored: apply it first, or leave onFailure out for the rules that are built in.`,
  );
}

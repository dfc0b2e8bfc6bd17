import { createHash } from "node:crypto";
import { z } from "zod";
import type { BusinessProfile } from "../../config/business-profile.ts";
import type { PayRunPlaybook, Playbook } from "../../contracts/playbook.ts";
import { appendAudit } from "../../store/audit.ts";
import { isCancellationPolicy } from "../../domain/cancellations/policy.ts";
import { BUILT_IN_FAILURES } from "../../domain/retries/policy.ts";
import { applyPlaybook, getPlaybook, isPayRun, playbookRevisions } from "../../store/playbooks.ts";
import { scheduleWish } from "../../store/schedule-wishes.ts";
import type { GatewayContext } from "../context.ts";
import { unprocessable } from "../http/errors.ts";
import type { Routes } from "../http/route.ts";
import { AppliedPlaybookBody, PlaybookListBody, PlaybookRevisionsBody } from "../http/schemas.ts";
import { ownedPlaybook } from "../businesses.ts";
import { findPlaybook, playbooksOf } from "../playbooks.ts";
import { readPlaybookText } from "../playbook-text.ts";
import { syncSchedule } from "../schedules.ts";
import { businessQuery, MAY, name } from "./fields.ts";

/** Playbooks: stored by an administrator, launched by name. */
export function addPlaybookRoutes(routes: Routes): void {
  addRevisions(routes);
  addApply(routes);
  routes.add({
    whose: "profiles",
    method: "get",
    path: "/v1/playbooks",
    tag: "playbooks",
    summary: "The stored playbooks, each in its newest revision",
    query: z.object({ business: name.optional() }),
    responses: { 200: { description: "By name", schema: PlaybookListBody } },
    handle: async ({ query, context }) => {
      const items = await playbooksOf(context, query.business);
      return {
        status: 200,
        json: {
          items: items.map((playbook) => ({
            name: playbook.name,
            kind: playbook.kind,
            business: playbook.business,
            revision: playbook.revision,
            author: playbook.author,
            createdAt: new Date(playbook.createdAtMs).toISOString(),
          })),
        },
      };
    },
  });
}

function addApply(routes: Routes): void {
  routes.add({
    whose: "profiles",
    method: "post",
    path: "/v1/playbooks",
    tag: "playbooks",
    summary: "Stores a playbook under its name; the same text keeps its revision",
    description:
      "Who applies a playbook doesn't count as an approver of its runs. 422 lists every mistake of the text.",
    roles: MAY.administer,
    body: z.strictObject({
      name,
      business: name.optional().describe("Whose it is, where the text doesn't say"),
      text: z.string().min(1, "must not be empty"),
    }),
    responses: { 200: { description: "The revision in force", schema: AppliedPlaybookBody } },
    handle: async ({ body, principal, context }) => {
      const { playbook, profile } = ownedPlaybook(
        context,
        readPlaybookText(body.name, body.text),
        body.business,
      );
      if (playbook.kind === "pay-run") await requireFailurePlaybook(context, profile, playbook);
      const nowMs = context.nowMs();
      const sandboxTime = await sandboxTimeOf(context, profile);
      const applied = await context.store.transactionOf(profile.businessId, async (trx) => {
        const result = await applyPlaybook(trx, {
          name: body.name,
          kind: playbook.kind,
          text: body.text,
          compiled: playbook,
          business: profile.name,
          author: principal.name,
          authorTokenId: principal.tokenId,
          nowMs,
        });
        const wanted = { businessId: profile.businessId, playbook: body.name };
        if (result.changed || (await scheduleWish(trx, wanted)).deleted) {
          await appendAudit(trx, {
            businessId: profile.businessId,
            nowMs,
            actor: principal.name,
            action: "playbook.applied",
            subject: body.name,
            details: { revision: result.revision, ...sandboxTime },
          });
        }
        return result;
      });
      // After the store: whoever applies again after a failure here completes it.
      const { pause } = await syncSchedule(context, {
        business: profile.name,
        name: body.name,
        compiled: playbook,
      });
      const noted =
        pause === null ? await noteOn(context, profile, playbook) : pausedNote(body.name, pause);
      return {
        status: 200,
        json: { name: body.name, business: profile.name, ...applied, ...noted },
      };
    },
  });
}

/** What backfills count from; a sandbox that can't be read keeps nobody from storing a playbook. */
async function sandboxTimeOf(
  context: GatewayContext,
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

/** What whoever stores a playbook should know; the other playbook may still be stored after it. */
async function noteOn(
  context: GatewayContext,
  { name: business }: BusinessProfile,
  playbook: Playbook,
): Promise<{ note?: string }> {
  if (!isCancellationPolicy(playbook)) return {};
  const { run } = playbook.choose;
  if (run === null || (await isPayRun(context.store.db, { business, name: run }))) return {};
  const note = `choose.run names “${run}”, and no pay-run playbook of that name is stored yet: until one is, this chooses nothing.`;
  return { note };
}

/** A name that nobody has stored would quietly mean the built-in rules. */
async function requireFailurePlaybook(
  context: GatewayContext,
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

function addRevisions(routes: Routes): void {
  routes.add({
    whose: "profiles",
    method: "get",
    path: "/v1/playbooks/{name}",
    tag: "playbooks",
    summary: "Every revision of a playbook with its text, newest first",
    params: z.object({ name }),
    responses: { 200: { description: "Newest first", schema: PlaybookRevisionsBody } },
    query: businessQuery,
    handle: async ({ params, query, context }) => {
      const stored = await findPlaybook(context, { ...params, ...query });
      const revisions = await playbookRevisions(context.store.db, stored);
      return {
        status: 200,
        json: {
          name: params.name,
          business: stored.business,
          items: revisions.map(({ revision, text, author, createdAtMs }) => ({
            revision,
            text,
            author,
            createdAt: new Date(createdAtMs).toISOString(),
            hash: createHash("sha256").update(text).digest("hex"),
          })),
        },
      };
    },
  });
}

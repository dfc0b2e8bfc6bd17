import type { Fact, Head } from "../../domain/facts/fact.ts";
import { SCHEDULE_ACTS, scheduleDeleted } from "../../domain/facts/playbooks.ts";
import { record } from "../../store/facts/record.ts";
import { z } from "zod";
import type { StoredPlaybook } from "../../store/playbooks/playbooks.ts";
import { deleteSchedule, pauseSchedule, resumeSchedule } from "../../temporal/schedules.ts";
import { backfill } from "../../actions/launch/backfill.ts";
import type { GatewayContext } from "../http/context.ts";
import type { Principal } from "../../actions/principal.ts";
import { notFound } from "../../actions/errors.ts";
import type { Routes } from "../http/route.ts";
import { businessNamed } from "../../actions/businesses.ts";
import { findPlaybook, ownerless, playbooksOf } from "../../actions/playbooks/playbooks.ts";
import {
  withScheduleAlone,
  keyOf,
  makeSchedule,
  scheduleOf,
  standing,
} from "../../actions/playbooks/schedules.ts";
import { persistently } from "../../actions/temporal.ts";
import {
  BackfillBody,
  DeletedScheduleBody,
  ScheduleBody,
  ScheduleListBody,
} from "../../api/schedules.ts";
import { businessQuery, date, MAY, name, words } from "./fields.ts";

const params = z.object({ name });
const note = z.strictObject({ note: words.optional() });

/**
 * Adds the operations on schedules: applying a playbook creates its schedule; here it is paused,
 * resumed, deleted.
 */
export function addScheduleRoutes(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "listSchedules",
    method: "get",
    path: "/v1/schedules",
    tag: "schedules",
    summary: "The playbooks that run by themselves, with their next five runs",
    query: z.object({ playbook: name.optional(), business: name.optional() }),
    responses: { 200: { description: "By name", schema: ScheduleListBody } },
    handle: async ({ query, context }) => {
      const { playbook, business } = query;
      const among =
        playbook === undefined
          ? await playbooksOf(context, business)
          : [await findPlaybook(context, { name: playbook, business })];
      const found = await Promise.all(among.map((stored) => scheduleOf(context, stored)));
      const items = found.filter((each) => each !== null);
      const lost = query.playbook === undefined ? await ownerless(context) : [];
      const problems = lost.map(({ name: each, business: owner }) => ({
        playbook: each,
        business: owner,
        message: `Its business “${owner}” is not configured any more: it runs nothing.`,
      }));
      return { status: 200, json: { items, problems } };
    },
  });
  addSwitch(routes, "pause", "Keeps a schedule from launching until it is resumed");
  addSwitch(routes, "resume", "Lets a paused schedule launch again");
  addDelete(routes);
  addBackfill(routes);
}

function addSwitch(routes: Routes, action: "pause" | "resume", summary: string): void {
  routes.add({
    whose: "profiles",
    operationId: `${action}Schedule`,
    method: "post",
    path: `/v1/schedules/{name}/${action}`,
    tag: "schedules",
    summary,
    description: "If it stands so already, nothing is done, and a `note` is not kept.",
    roles: MAY.operate,
    params,
    query: businessQuery,
    body: note,
    responses: { 200: { description: "As it is now", schema: ScheduleBody } },
    handle: async ({ params: { name: playbook }, query, body, principal, context }) => {
      const stored = await findPlaybook(context, { name: playbook, ...query });
      const text = `${principal.name}: ${body.note ?? action}`;
      const isPause = action === "pause";
      const act = isPause ? pauseSchedule : resumeSchedule;
      const { done } = await withScheduleAlone(context, stored, async () => {
        const { kept, wish } = await standing(context, stored);
        // A schedule that Temporal has lost is first created again, as it stood: pausing must not
        // wait for that.
        const isLost = kept === undefined && !wish.deleted;
        if (isLost) await makeSchedule(context, stored, wish);
        // A repeat does nothing: a second resumption would pass over a run that is due by now.
        const isPaused = isLost ? wish.pause !== null : kept?.paused;
        if (isPaused === isPause) return { done: true };
        const held = await persistently(context.temporal, () =>
          act(context.temporal, keyOf(stored), text),
        );
        const did = SCHEDULE_ACTS[`${action}d`];
        if (held)
          await noteAct(context, stored, principal, (head) => did(head, { note: body.note }));
        return { done: held };
      });
      if (!done) throw noSchedule(playbook);
      const now = await scheduleOf(context, stored);
      if (now === null) throw noSchedule(playbook);
      return { status: 200, json: now };
    },
  });
}

function addDelete(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "deleteSchedule",
    method: "delete",
    path: "/v1/schedules/{name}",
    tag: "schedules",
    summary: "Deletes a schedule; applying its playbook makes it again",
    roles: MAY.administer,
    params,
    query: businessQuery,
    responses: {
      200: { description: "Deleted", schema: DeletedScheduleBody },
    },
    handle: async ({ params: { name: playbook }, query, principal, context }) => {
      const stored = await findPlaybook(context, { name: playbook, ...query });
      const { done } = await withScheduleAlone(context, stored, async () => {
        const { kept, wish } = await standing(context, stored);
        const isLost = kept === undefined && !wish.deleted && stored.compiled.schedule !== null;
        if (kept === undefined && !isLost) return { done: false };
        // Recorded before the deletion: a schedule that is missing without an entry is created
        // again.
        await noteAct(context, stored, principal, (head) => scheduleDeleted(head, {}));
        const gone = await persistently(context.temporal, () =>
          deleteSchedule(context.temporal, keyOf(stored)),
        );
        return { done: gone || isLost };
      });
      if (!done) throw noSchedule(playbook);
      return { status: 200, json: { playbook } };
    },
  });
}

function addBackfill(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "backfillSchedule",
    method: "post",
    path: "/v1/schedules/{name}/backfill",
    tag: "schedules",
    summary: "Launches the runs that a schedule has missed, each once",
    description:
      "Those that should have begun within the playbook's `catchUp`, or the one of the period asked for.",
    roles: MAY.launch,
    params,
    query: businessQuery,
    body: z.strictObject({ period: date.optional() }),
    responses: {
      200: {
        description: "What was launched or joined",
        schema: BackfillBody,
      },
    },
    handle: async ({ params: { name: playbook }, query, body, principal, context }) => {
      const stored = await findPlaybook(context, { name: playbook, ...query });
      const launched = await backfill(context, stored, body.period, principal);
      const items = launched.map(({ period, runId, created }) => ({ period, id: runId, created }));
      return { status: 200, json: { items } };
    },
  });
}

function noSchedule(playbook: string): Error {
  return notFound(
    `Nothing runs “${playbook}” by itself: give it a “schedule:” and apply it, or apply it again.`,
  );
}

async function noteAct(
  context: GatewayContext,
  stored: StoredPlaybook,
  principal: Principal,
  act: (head: Head) => Fact,
): Promise<void> {
  const { businessId } = businessNamed(context, stored.business, "");
  const head = { businessId, nowMs: context.nowMs(), by: principal.name, subject: stored.name };
  await context.store.transactionOf(businessId, (trx) => record(trx, act(head)));
}

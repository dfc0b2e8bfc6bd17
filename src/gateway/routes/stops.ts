import { z } from "zod";
import { StopBody, StopPreviewBody } from "../../api/holds.ts";
import { notFound, unprocessable } from "../../actions/errors.ts";
import { stop } from "../../actions/holds/stop.ts";
import type { StopTarget } from "../../domain/holds.ts";
import { cancellationStatus } from "../../reports/status/cancellation.ts";
import { heldSums, holdJson } from "../../reports/status/holds.ts";
import type { Routes } from "../http/route.ts";
import { idField, name as businessName, words } from "./fields.ts";
import { heldThing, holders, requireHolder } from "./held-thing.ts";

/** What a stop may apply to. */
const OF = {
  run: idField.optional(),
  source: idField.optional(),
  contactId: idField.optional(),
  business: businessName.optional(),
};

const AT_MOST_ONE = "name at most one of run, source and contactId";

/** A request that forgot to say what it is about must not stop everything. */
const EXACTLY_ONE = {
  message: "name exactly one of run, source and contactId, or say all: true for everything",
};

interface Named {
  readonly run?: string | undefined;
  readonly source?: string | undefined;
  readonly contactId?: string | undefined;
  readonly all?: true | undefined;
}

function namedIn({ run, source, contactId, all }: Named): number {
  return [run, source, contactId, all].filter((each) => each !== undefined).length;
}

function targetOf({ run, source, contactId }: Named): StopTarget {
  if (run !== undefined) return { scope: "run", value: run };
  if (source !== undefined) return { scope: "source", value: source };
  if (contactId !== undefined) return { scope: "contact", value: contactId };
  return { scope: "all", value: "" };
}

/**
 * Adds the emergency stop, a single action: one hold, and a cancel of what is already with the
 * service.
 */
export function addStopRoutes(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "previewStop",
    method: "get",
    path: "/v1/stops",
    tag: "holds",
    summary: "What a stop would do now: what waits, and what can still be taken back",
    description: "Of everything if nothing is named.",
    query: z.object(OF),
    responses: { 200: { description: "The request stops nothing", schema: StopPreviewBody } },
    handle: async ({ query, context }) => {
      if (namedIn(query) > 1) throw unprocessable("several_named", `A stop: ${AT_MOST_ONE}.`);
      const target = targetOf(query);
      const { profile, thing } = await heldThing(context, target, query.business);
      const { number, name } = thing ?? { number: null, name: null };
      const holds = await heldSums(context, profile, target);
      return { status: 200, json: { business: profile.name, ...target, number, name, holds } };
    },
  });

  routes.add({
    whose: "profiles",
    operationId: "stopPayments",
    method: "post",
    path: "/v1/stops",
    tag: "holds",
    summary: "Holds a run, an account, a vendor or everything, and cancels what was sent",
    description:
      "One hold is on all of it until it is released. With `cancelScheduled`, what the service has scheduled or holds is cancelled under that hold; GET /v1/runs/{id} of the cancellation says what happened to each payment.",
    roles: holders,
    body: z
      .strictObject({
        ...OF,
        all: z.literal(true, "can only be true").optional().describe("Everything of the business"),
        cancelScheduled: z.boolean().default(false),
        reason: words,
      })
      .refine((body) => namedIn(body) === 1, EXACTLY_ONE),
    responses: { 201: { description: "In force from now on", schema: StopBody } },
    handle: async ({ body, principal, context }) => {
      const target = targetOf(body);
      const { profile, thing } = await heldThing(context, target, body.business);
      await requireHolder(context, profile, principal);
      const { reason, cancelScheduled } = body;
      const asked = { target, thing, reason, author: principal.name, cancelScheduled };
      const { hold, cancellationId } = await stop(context, profile, asked);
      const holds = await heldSums(context, profile, target);
      const { db } = context.store;
      const cancellation =
        cancellationId === null ? null : await cancellationStatus(context, cancellationId);
      if (cancellation === undefined) throw notFound("The cancellation is gone; stop again.");
      const shown = await holdJson(db, hold, profile);
      return { status: 201, json: { hold: shown, holds, cancellation } };
    },
  });
}

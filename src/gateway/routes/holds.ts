import { z } from "zod";
import { HOLD_SCOPES } from "../../domain/holds.ts";
import { releaseWithheld } from "../../store/cancellations/cancellation-items.ts";
import {
  countHolds,
  createHold,
  getHold,
  type Hold,
  listHolds,
  releaseHold,
} from "../../store/holds/holds.ts";
import { getRun } from "../../store/runs/runs.ts";
import { endOf, holdJson, sentAlready, type HoldTarget } from "../../reports/status/holds.ts";
import { requireRole } from "../../actions/principal.ts";
import { notFound, unprocessable } from "../../actions/errors.ts";
import type { Routes } from "../http/route.ts";
import { requireTheirs, type ScopedContext } from "../http/scope.ts";
import { HoldBody, HoldListBody } from "../../api/schemas.ts";
import { businessNamed } from "../../actions/businesses.ts";
import { keepNamed, thingOfId } from "../../actions/names/find-named.ts";
import type { Named } from "../../actions/names/found.ts";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { id, MAY, name, pageNumber, pageSize, words, yesNo } from "./fields.ts";

/** Holds in one answer: those on single bills add up over the years. */
const HOLDS_MOST = 1_000;

const NewHoldBody = z
  .strictObject({
    payableId: id.optional(),
    contactId: id.optional(),
    source: id.optional(),
    run: id.optional(),
    playbook: name.optional(),
    all: z.literal(true, "can only be true").optional(),
    reason: words,
    until: z
      .union(
        [z.iso.date(), z.iso.datetime({ offset: true }), z.iso.duration()],
        "must be a date, an instant or a duration, ISO 8601",
      )
      .optional()
      .describe("Date (its beginning in New York), instant or duration on the business clock"),
    business: name.optional(),
  })
  .refine((body) => targets(body).length === 1, {
    message: "name exactly one of payableId, contactId, source, run, playbook and all",
  });

function targets(body: {
  payableId?: string | undefined;
  contactId?: string | undefined;
  source?: string | undefined;
  run?: string | undefined;
  playbook?: string | undefined;
  all?: true | undefined;
}): HoldTarget[] {
  const found: HoldTarget[] = [];
  if (body.payableId !== undefined) found.push({ scope: "payable", value: body.payableId });
  if (body.contactId !== undefined) found.push({ scope: "contact", value: body.contactId });
  if (body.source !== undefined) found.push({ scope: "source", value: body.source });
  if (body.run !== undefined) found.push({ scope: "run", value: body.run });
  if (body.playbook !== undefined) found.push({ scope: "playbook", value: body.playbook });
  if (body.all !== undefined) found.push({ scope: "all", value: "" });
  return found;
}

/** Holds: everything that people say must not be paid now. */
export function addHoldRoutes(routes: Routes): void {
  addList(routes);
  addCreate(routes);
  addRelease(routes);
}

function addList(routes: Routes): void {
  routes.add({
    whose: "profiles",
    method: "get",
    path: "/v1/holds",
    tag: "holds",
    summary: "Holds that are in force, newest first",
    query: z.object({
      business: name.optional(),
      active: yesNo.default(true).describe("false: ended and released ones too"),
      scope: z.enum(HOLD_SCOPES, `must be one of ${HOLD_SCOPES.join(", ")}`).optional(),
      page: pageNumber,
      pageSize: pageSize(HOLDS_MOST),
    }),
    responses: { 200: { description: "Newest first", schema: HoldListBody } },
    handle: async ({ query, context }) => {
      const profiles =
        query.business === undefined
          ? context.profiles.all()
          : [businessNamed(context, query.business, "")];
      const { db } = context.store;
      const { active, page, scope } = query;
      const items = [];
      let before = (page - 1) * query.pageSize;
      let totalCount = 0;
      for (const profile of profiles) {
        const { businessMs: nowMs } = await context.clocks.read(profile);
        const filter = { businessId: profile.businessId, active, scope, nowMs };
        const count = await countHolds(db, filter);
        const rows = { offset: Math.min(before, count), limit: query.pageSize - items.length };
        before -= rows.offset;
        totalCount += count;
        if (rows.limit === 0 || rows.offset === count) continue;
        const holds = await listHolds(db, filter, rows);
        items.push(...holds.map((hold) => holdJson(hold, profile.name)));
      }
      const nextPage = page * query.pageSize < totalCount ? page + 1 : null;
      return { status: 200, json: { items, totalCount, nextPage } };
    },
  });
}

function addCreate(routes: Routes): void {
  routes.add({
    whose: "profiles",
    method: "post",
    path: "/v1/holds",
    tag: "holds",
    summary:
      "Keeps a bill, a vendor, a funding source, a run, a playbook or everything from being paid",
    description:
      "Stops what has not been sent. What the service has scheduled already goes on; the answer's note says how many bills that are.",
    roles: MAY.operate,
    body: NewHoldBody,
    responses: { 201: { description: "In force from now on", schema: HoldBody } },
    handle: async ({ body, principal, context }) => {
      const target = targets(body)[0];
      if (target === undefined) throw unprocessable("no_target", "The hold names nothing.");
      const { profile, thing } = await heldThing(context, target, body.business);
      const { businessMs } = await context.clocks.read(profile);
      const untilMs = body.until === undefined ? null : endOf(body.until, businessMs);
      if (untilMs !== null && untilMs <= businessMs) {
        throw unprocessable(
          "until_past",
          `until (${body.until}) has passed on the business clock, where it is ${new Date(businessMs).toISOString()}.`,
        );
      }
      const { businessId } = profile;
      const hold = await context.store.transactionOf(businessId, async (trx) => {
        if (thing !== undefined) await keepNamed(trx, businessId, thing);
        return createHold(trx, {
          businessId,
          ...target,
          reason: body.reason,
          author: principal.name,
          untilMs,
          nowMs: context.nowMs(),
        });
      });
      const sent = await sentAlready(context.store.db, profile.businessId, target);
      return {
        status: 201,
        json: {
          ...holdJson(hold, profile.name),
          ...(sent === 0
            ? {}
            : {
                note: `${sent} of its bills ${sent === 1 ? "is" : "are"} with the service already: a hold doesn't stop what was sent.`,
              }),
        },
      };
    },
  });
}

function addRelease(routes: Routes): void {
  routes.add({
    whose: async ({ params }, { store }) => (await getHold(store.db, params.id))?.businessId,
    method: "delete",
    path: "/v1/holds/{id}",
    tag: "holds",
    summary: "Lifts a hold",
    description:
      "An operator lifts it; one that waits for a decision of named roles (a withheld bill, an account that bounced, a vendor to look at) is lifted by these alone.",
    params: z.object({ id }),
    responses: { 200: { description: "Lifted", schema: HoldBody } },
    handle: async ({ params, principal, context }) => {
      const mayLift = (hold: Hold | undefined): void =>
        requireRole(principal, hold?.roles.length ? hold.roles : MAY.operate);
      const known = await getHold(context.store.db, params.id);
      mayLift(known);
      if (known === undefined) throw notInForce(params.id);
      const { businessId } = known;
      const released = await context.store.transactionOf(businessId, async (trx) => {
        mayLift(await getHold(trx, params.id));
        const hold = await releaseHold(trx, params.id, principal.name, context.nowMs());
        if (hold === undefined) throw notInForce(params.id);
        await releaseWithheld(trx, params.id, principal.name, context.nowMs());
        return hold;
      });
      const profile = context.profiles.byBusinessId(released.businessId);
      return { status: 200, json: holdJson(released, profile?.name ?? released.businessId) };
    },
  });
}

function notInForce(holdId: string): Error {
  return notFound(`No hold “${holdId}” is in force; GET /v1/holds lists those that are.`);
}

/**
 * What a hold is to be set on, and whose it is.
 *
 * @throws GatewayError 404 for what nobody knows, with the nearest; 503 where only the service could
 * say
 */
async function heldThing(
  context: ScopedContext,
  target: HoldTarget,
  business: string | undefined,
): Promise<{ readonly profile: BusinessProfile; readonly thing?: Named }> {
  if (target.scope === "all") {
    return { profile: businessNamed(context, business, "add “business” to the hold") };
  }
  const run = target.scope === "run" ? await getRun(context.store.db, target.value) : undefined;
  if (target.scope === "run") requireTheirs(context, run?.businessId, target.value);
  const asked = { id: target.value, kind: KIND_OF[target.scope], business };
  const thing = await thingOfId(context, asked);
  if (target.scope === "run" && run === undefined) {
    throw unprocessable("no_pay_run", `“${target.value}” is no pay run: it has no bills to hold.`);
  }
  return { profile: businessNamed(context, thing.business, ""), thing };
}

const KIND_OF = {
  payable: "bill",
  contact: "vendor",
  source: "account",
  run: "run",
  playbook: "playbook",
} as const;

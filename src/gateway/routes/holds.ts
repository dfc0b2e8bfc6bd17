import { z } from "zod";
import { definedOnly } from "../../contracts/defined-only.ts";
import { HOLD_SCOPES, type HoldField } from "../../domain/holds.ts";
import { SENSIBLE_YEARS } from "../../domain/clock/dates.ts";
import { spokenTime } from "../../domain/clock/spoken.ts";
import { type HeldSums, HoldBody, HoldListBody } from "../../api/holds.ts";
import { businessNamed } from "../../actions/businesses.ts";
import { notFound, unprocessable } from "../../actions/errors.ts";
import { endedByPerson, liftHolds } from "../../actions/holds/release.ts";
import { liftersOf, mayLiftOf } from "../../actions/holds/who.ts";
import { createNamedHold, endOf } from "../../actions/holds/set-hold.ts";
import { requireRole } from "../../actions/principal.ts";
import { goesOutJson, heldSums, holdJson, holdsJson } from "../../reports/status/holds.ts";
import { countHolds, getHold, type Hold, listHolds } from "../../store/holds/holds.ts";
import { invalidField } from "../http/parts.ts";
import type { Routes } from "../http/route.ts";
import { idField, name, pageNumber, pageSize, words, yesNo } from "./fields.ts";
import { heldThing, holders, requireHolder, requireLifter, targetsOf } from "./held-thing.ts";

/** Most holds in one answer: holds on single bills add up over the years. */
const HOLDS_MOST = 1_000;

const TARGETS = {
  payableId: idField.optional(),
  contactId: idField.optional(),
  source: idField.optional(),
  run: idField.optional(),
  playbook: name.optional(),
  all: z.literal(true, "can only be true").optional(),
} satisfies Readonly<Record<HoldField, z.ZodType>>;

const NewHoldBody = z
  .strictObject({
    ...TARGETS,
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
  .refine((body) => targetsOf(body).length === 1, {
    message: `name exactly one of ${Object.keys(TARGETS).join(", ")}`,
  });

/** Adds the operations on holds: everything that people say must not be paid now. */
export function addHoldRoutes(routes: Routes): void {
  addList(routes);
  addCreate(routes);
  addRelease(routes);
}

function addList(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "listHolds",
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
    handle: async ({ query, principal, context }) => {
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
        const mayLift = await mayLiftOf(context, profile, principal);
        items.push(...(await holdsJson(db, holds, profile, mayLift)));
      }
      const nextPage = page * query.pageSize < totalCount ? page + 1 : null;
      return { status: 200, json: { items, totalCount, nextPage } };
    },
  });
}

function addCreate(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "createHold",
    method: "post",
    path: "/v1/holds",
    tag: "holds",
    summary:
      "Keeps a bill, a vendor, a funding source, a run, a playbook or everything from being paid",
    description:
      "Stops what has not been sent. What the service has scheduled already goes on; the answer's note says how many bills that are.",
    roles: holders,
    body: NewHoldBody,
    responses: { 201: { description: "In force from now on", schema: HoldBody } },
    handle: async ({ body, principal, context }) => {
      const target = targetsOf(body)[0];
      if (target === undefined) throw unprocessable("no_target", "The hold names nothing.");
      const { profile, thing } = await heldThing(context, target, body.business);
      await requireHolder(context, profile, principal);
      const { businessMs } = await context.clocks.read(profile);
      const untilMs = body.until === undefined ? null : endOf(body.until, businessMs);
      if (untilMs === undefined) throw invalidField("until", `must end on a day ${SENSIBLE_YEARS}`);
      if (untilMs !== null && untilMs <= businessMs) {
        throw unprocessable(
          "until_past",
          `until (${body.until}) has passed: it is ${spokenTime(businessMs, profile.zone)} on the business clock.`,
        );
      }
      const { name: author } = principal;
      const wanted = { target, thing, reason: body.reason, author, untilMs };
      const { businessId } = profile;
      const hold = await context.store.transactionOf(businessId, (trx) =>
        createNamedHold(trx, businessId, { ...wanted, nowMs: context.nowMs() }),
      );
      const unplanned = thing?.parts?.openCents ?? thing?.amountCents ?? null;
      const holds = await heldSums(context, profile, target, unplanned);
      const json = await holdJson(context.store.db, hold, profile);
      return { status: 201, json: { ...json, holds, ...sentNote(holds) } };
    },
  });
}

/** Returns the note that a hold doesn't stop what was already sent, if something was. */
function sentNote({ recallable, underWay, gone }: HeldSums): { readonly note?: string } {
  const sent = recallable.bills + underWay.bills + gone.bills;
  if (sent === 0) return {};
  const are = sent === 1 ? "is" : "are";
  return {
    note: `${sent} of its bills ${are} with the service already: a hold doesn't stop what was sent.`,
  };
}

function addRelease(routes: Routes): void {
  routes.add({
    whose: async ({ params }, { store }) => (await getHold(store.db, params.id))?.businessId,
    operationId: "releaseHold",
    method: "delete",
    path: "/v1/holds/{id}",
    tag: "holds",
    summary: "Lifts a hold, and says which bills go out because of it",
    description:
      "An operator lifts it, or the approver who set it, also by a stop that cancels; one that waits for a decision of named roles (a held-back bill, an account that bounced, a vendor to look at) is lifted only by these roles.",
    params: z.object({ id: idField }),
    responses: { 200: { description: "Lifted", schema: HoldBody } },
    handle: async ({ params, principal, context }) => {
      const known = await getHold(context.store.db, params.id);
      const profile = context.profiles.byBusinessId(known?.businessId ?? "");
      if (known === undefined || profile === undefined) {
        requireRole(principal, await holders(undefined, context));
        throw notInForce(params.id);
      }
      const lifters = await liftersOf(context, profile, principal);
      const check = (hold: Hold): void => requireLifter(principal, hold, lifters(hold));
      check(known);
      const lift = { holdIds: [params.id], by: principal.name, check };
      const { db } = context.store;
      const ended = await endedByPerson(db, known);
      const { released, goesOut, stillOnHoldBy } = await liftHolds(context, profile, lift);
      const [hold] = released;
      if (hold === undefined) throw notInForce(params.id);
      const json = await holdJson(db, hold, profile);
      const sums = await goesOutJson(context, profile, goesOut);
      return {
        status: 200,
        json: { ...json, goesOut: sums, stillOnHoldBy, ...definedOnly({ ended }) },
      };
    },
  });
}

function notInForce(holdId: string): Error {
  return notFound(`No hold “${holdId}” is in force; “payrun holds” lists those that are.`);
}

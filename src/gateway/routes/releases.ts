import { createHash } from "node:crypto";
import { z } from "zod";
import { definedOnly } from "../../contracts/defined-only.ts";
import { allGoesOut } from "../../api/goes-out.ts";
import { ReleaseBody } from "../../api/holds.ts";
import { namedOrAll } from "../../actions/businesses.ts";
import { conflict, unprocessable } from "../../actions/errors.ts";
import {
  endedByPerson,
  freedBy,
  type FreedLine,
  holdsBy,
  liftHolds,
} from "../../actions/holds/release.ts";
import { liftersOf } from "../../actions/holds/who.ts";
import { type Principal, requireRole } from "../../actions/principal.ts";
import { hasRole } from "../../domain/approvals/token.ts";
import type { BusinessProfile } from "../../config/business-profile.ts";
import { goesOutJson, holdsJson } from "../../reports/status/holds.ts";
import { activeHolds, type Hold } from "../../store/holds/holds.ts";
import type { Routes } from "../http/route.ts";
import type { ScopedContext } from "../http/scope.ts";
import { name, words } from "./fields.ts";
import { holders } from "./held-thing.ts";

const hash = z
  .string()
  .describe("Of what was looked at: nothing is lifted if the list, or what goes out, has changed");

/**
 * Adds the operations that lift at once all holds of one person, including those set by the cancels
 * that this person requested.
 */
export function addReleaseRoutes(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "previewRelease",
    method: "get",
    path: "/v1/releases",
    tag: "holds",
    summary:
      "The holds of one person, or those that are named, and what goes out once they are lifted",
    query: z
      .object({
        by: words.optional().describe("Who has set them"),
        holds: z
          .string()
          .transform((text) => text.split(","))
          .optional()
          .describe("Their ids, separated by commas; those no longer in force are left out"),
        business: name.optional(),
      })
      .refine(({ by, holds }) => (by === undefined) !== (holds === undefined), {
        message: "must name either by or holds",
      }),
    responses: { 200: { description: "The request lifts nothing", schema: ReleaseBody } },
    handle: async ({ query, principal, context }) => {
      const all = await heldBy(context, query, principal);
      return { status: 200, json: await releaseJson(context, all) };
    },
  });

  routes.add({
    whose: "profiles",
    operationId: "releaseHolds",
    method: "post",
    path: "/v1/releases",
    tag: "holds",
    summary: "Lifts the holds that one person has set, as far as the caller may lift them",
    description:
      "Holds on bills that were paid elsewhere or given up stay: each is lifted only by itself.",
    roles: holders,
    body: z.strictObject({
      by: words.describe("Who has set them"),
      business: name.optional(),
      hash: hash.optional(),
    }),
    responses: { 200: { description: "Lifted", schema: ReleaseBody } },
    handle: async ({ body, principal, context }) => {
      const all = await heldBy(context, body, principal);
      if (body.hash !== undefined && body.hash !== hashOf(all)) {
        throw conflict(
          "stale_holds",
          `What ${body.by} has set, or what goes out without it, has changed since you looked. Nothing was released: look at it again.`,
        );
      }
      // If the caller may lift none of it, the refusal names the roles that may.
      const kept = all.flatMap((each) => each.kept).find(({ ended }) => ended === undefined);
      if (kept !== undefined && all.every(({ lifting }) => lifting.length === 0)) {
        requireRole(principal, kept.roles);
      }
      const done: HeldBy[] = [];
      for (const each of all) {
        const { profile, lifting, lifters } = each;
        const check = (hold: Hold): void => requireRole(principal, lifters(hold));
        const holdIds = lifting.map(({ holdId }) => holdId);
        const lifted = await liftHolds(context, profile, { holdIds, by: principal.name, check });
        done.push({ ...each, lifting: lifted.released, goesOut: lifted.goesOut });
      }
      return { status: 200, json: await releaseJson(context, done) };
    },
  });
}

interface Kept {
  readonly hold: Hold;
  readonly roles: readonly string[];
  readonly ended?: Awaited<ReturnType<typeof endedByPerson>>;
}

/** The holds that a person has set in one business, or the named holds there. */
interface HeldBy {
  readonly profile: BusinessProfile;
  readonly lifters: (hold: Hold) => readonly string[];
  readonly lifting: readonly Hold[];
  readonly kept: readonly Kept[];
  readonly goesOut: readonly FreedLine[];
}

/**
 * Finds the holds to lift.
 *
 * @throws GatewayError 422 if none of them is in force; the message names the authors of those that
 * are
 */
async function heldBy(
  context: ScopedContext,
  asked: {
    readonly by?: string | undefined;
    readonly holds?: readonly string[] | undefined;
    readonly business?: string | undefined;
  },
  principal: Principal,
): Promise<HeldBy[]> {
  const all: HeldBy[] = [];
  const authors = new Set<string>();
  for (const profile of namedOrAll(context, asked.business)) {
    const { businessId } = profile;
    const { db } = context.store;
    const clock = await context.clocks.read(profile);
    const { businessMs } = clock;
    const inForce = await activeHolds(db, businessId, businessMs);
    const holds =
      asked.by === undefined
        ? inForce.filter(({ holdId }) => asked.holds?.includes(holdId))
        : await holdsBy(db, profile, { author: asked.by, businessMs });
    for (const { author } of inForce) if (!author.includes("/")) authors.add(author);
    const lifters = await liftersOf(context, profile, principal);
    const mayLift = (hold: Hold) => hasRole(principal, lifters(hold));
    const lifting: Hold[] = [];
    const kept: Kept[] = [];
    for (const hold of holds) {
      // A person who ends an emergency doesn't think of the bill that was paid by wire: without its
      // hold it would be paid again.
      const ended = asked.by === undefined ? undefined : await endedByPerson(db, hold);
      if (ended === undefined && mayLift(hold)) lifting.push(hold);
      else kept.push({ hold, roles: lifters(hold), ended });
    }
    const goesOut = await freedBy(db, { businessId, lifting, inForce, clock });
    all.push({ profile, lifters, lifting, kept, goesOut });
  }
  if (all.some(({ lifting, kept }) => lifting.length + kept.length > 0)) return all;
  if (asked.by === undefined) {
    throw unprocessable("no_such_hold", "None of these holds is in force any more.");
  }
  const others = authors.size === 0 ? "" : ` Holds are in force by ${[...authors].join(", ")}.`;
  throw unprocessable("no_such_hold", `No hold that “${asked.by}” has set is in force.${others}`);
}

/**
 * Returns a hash over the holds to lift, of all businesses, and the bills that go out once they are
 * lifted.
 */
function hashOf(all: readonly Pick<HeldBy, "lifting" | "goesOut">[]): string {
  const ids = all.flatMap(({ lifting }) => lifting.map(({ holdId }) => holdId));
  const bills = all.flatMap(({ goesOut }) =>
    goesOut.map(({ runId, payableId, amountCents }) => `${runId} ${payableId} ${amountCents}`),
  );
  const seen = JSON.stringify([ids.toSorted(), bills.toSorted()]);
  return createHash("sha256").update(seen).digest("base64url");
}

async function releaseJson(context: ScopedContext, all: readonly HeldBy[]) {
  const { db } = context.store;
  const released = [];
  const kept = [];
  for (const { profile, lifting, kept: ofOne } of all) {
    for (const [index, json] of (await holdsJson(db, lifting, profile)).entries()) {
      const hold = lifting[index];
      const ended = hold === undefined ? undefined : await endedByPerson(db, hold);
      released.push({ ...json, ...definedOnly({ ended }) });
    }
    const holds = await holdsJson(
      db,
      ofOne.map(({ hold }) => hold),
      profile,
    );
    for (const [index, hold] of holds.entries()) {
      const { roles = [], ended } = ofOne[index] ?? {};
      kept.push({ hold, roles, ...definedOnly({ ended }) });
    }
  }
  const goesOut = await Promise.all(
    all.map((each) => goesOutJson(context, each.profile, each.goesOut)),
  );
  return { released, kept, goesOut: allGoesOut(goesOut), hash: hashOf(all) };
}

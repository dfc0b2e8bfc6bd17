import { z } from "zod";
import { parkedFor } from "../../store/lines/parked-lines.ts";
import { decidersOf } from "../../store/lines/retry-cases.ts";
import { historyOf } from "../../reports/history/history.ts";
import { GatewayError } from "../../actions/errors.ts";
import type { Routes } from "../http/route.ts";
import { reasonCode } from "../../api/codes.ts";
import { HistoryBody } from "../../api/history.ts";
import { ParkedBody } from "../../api/parked.ts";
import { parkedBills } from "../../reports/parked.ts";
import { BulkResolutionBody, ResolutionBody } from "../../api/schemas.ts";
import { businessNamed, namedOrAll } from "../../actions/businesses.ts";
import { mayLiftOf } from "../../actions/holds/who.ts";
import { businessOfPayable } from "../../actions/payables/business-of-payable.ts";
import { nameOfPlanned, resolve, type Resolution } from "../../actions/payables/resolve.ts";
import { businessQuery, idField, MAY, name, pageNumber, pageSize, words } from "./fields.ts";

const action = z.enum(
  ["retry", "paid-elsewhere", "give-up"],
  "must be retry, paid-elsewhere or give-up",
);

/** Most bills that one request resolves: each has a transaction and a signal of its own. */
const RESOLVED_AT_ONCE = 1_000;

/** Most bills in one answer. */
const PARKED_MOST = 1_000;

const payableParams = z.object({ id: idField.describe("Payable id, URL-encoded") });

/** Adds the operations on single bills: their history, and what a person does about parked ones. */
export function addPayableRoutes(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "getPayableHistory",
    method: "get",
    path: "/v1/payables/{id}/history",
    tag: "payables",
    summary: "Everything that happened to a bill",
    params: payableParams,
    query: businessQuery,
    responses: { 200: { description: "First to last", schema: HistoryBody } },
    handle: async ({ params, query, principal, context }) => {
      const profile = await businessOfPayable(context, params.id, query.business);
      const mayLift = await mayLiftOf(context, profile, principal);
      const history = await historyOf(context, profile, params.id);
      const holds = history.holds.map((hold) => {
        return { ...hold, yours: mayLift({ holdId: hold.id, roles: hold.roles }) };
      });
      return { status: 200, json: { ...history, holds } };
    },
  });

  routes.add({
    whose: "profiles",
    operationId: "resolvePayable",
    method: "post",
    path: "/v1/payables/{id}/resolution",
    tag: "payables",
    summary: "Retries or ends a parked bill",
    description:
      "Operators and administrators, and the roles that a playbook names to decide about the failure.",
    params: payableParams,
    query: businessQuery,
    roles: async ({ params, query }, context) => {
      const among = namedOrAll(context, query.business).map(({ businessId }) => businessId);
      return [...MAY.operate, ...(await decidersOf(context.store.db, among, params.id))];
    },
    body: z.strictObject({ action, reason: words }),
    responses: { 200: { description: "Done; a retry goes on by itself", schema: ResolutionBody } },
    handle: async ({ params, query, body, principal, context }) => {
      const profile = await businessOfPayable(context, params.id, query.business);
      const request = { payableId: params.id, ...body };
      return { status: 200, json: await resolve(context, profile, request, principal) };
    },
  });

  addParked(routes);
  addBulk(routes);
}

function addParked(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "listParkedPayables",
    method: "get",
    path: "/v1/payables",
    tag: "payables",
    summary: "Bills that wait for a person, by cause",
    query: z.object({
      state: z.literal("parked", "can only be parked"),
      business: name.optional(),
      page: pageNumber,
      pageSize: pageSize(PARKED_MOST),
    }),
    responses: { 200: { description: "By cause, the largest first", schema: ParkedBody } },
    handle: async ({ query, context }) => ({
      status: 200,
      json: await parkedBills(context.store.db, namedOrAll(context, query.business), query),
    }),
  });
}

function addBulk(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "resolvePayables",
    method: "post",
    path: "/v1/resolutions",
    tag: "payables",
    summary: "Retries or ends the bills that are parked for one reason, 1,000 at a time",
    description:
      "In the order of their ids; if there are more, `next` is what the next request sends as `after`.",
    roles: MAY.operate,
    body: z.strictObject({
      reasonCode,
      action,
      reason: words,
      business: name.optional(),
      after: idField.optional().describe("`next` of the previous answer: only bills after it"),
    }),
    responses: { 200: { description: "What happened to each", schema: BulkResolutionBody } },
    handle: async ({ body, principal, context }) => {
      const profile = businessNamed(context, body.business, "add “business” to the body");
      const { businessId } = profile;
      // In a transaction, so that a repeat is about the same bills.
      const parked = await context.store.transactionOf(businessId, (trx) =>
        parkedFor(trx, {
          businessId,
          reasonCode: body.reasonCode,
          after: body.after ?? "",
          limit: RESOLVED_AT_ONCE,
        }),
      );
      const resolved: Resolution[] = [];
      const refused: z.input<typeof BulkResolutionBody>["refused"] = [];
      for (const payableId of parked) {
        const request = { payableId, action: body.action, reason: body.reason };
        try {
          resolved.push(await resolve(context, profile, request, principal));
        } catch (error) {
          // One bill that has moved on meanwhile must not keep the rest from being resolved.
          if (!(error instanceof GatewayError) || error.status >= 500) throw error;
          const { code, message } = error;
          const called = await nameOfPlanned(context.store.db, businessId, payableId);
          refused.push({ payableId, ...called, business: profile.name, error: code, message });
        }
      }
      const isLast = parked.length < RESOLVED_AT_ONCE;
      const next = isLast ? null : (parked.at(-1) ?? null);
      return { status: 200, json: { resolved, refused, next } };
    },
  });
}

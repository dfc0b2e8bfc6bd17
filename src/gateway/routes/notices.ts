import { noticeRetried } from "../../domain/facts/businesses.ts";
import { record } from "../../store/facts/record.ts";
import { z } from "zod";
import { definedOnly } from "../../contracts/defined-only.ts";
import { NEW_YORK } from "../../domain/clock/new-york.ts";
import { NOTICE_KINDS } from "../../contracts/notices.ts";
import {
  deliveriesOf,
  type NoticeDelivery,
  retryNotice,
} from "../../store/notices/notice-deliveries.ts";
import { getNotice, listNotices, type Notice } from "../../store/notices/notices.ts";
import type { GatewayContext } from "../http/context.ts";
import { routesOf } from "../../notices/routes.ts";
import { conflict, notFound } from "../../actions/errors.ts";
import { NoticeBody, NoticeListBody } from "../../api/notices.ts";
import type { Routes } from "../http/route.ts";
import { listedFor } from "../http/scope.ts";
import { idField, MAY, name, yesNo } from "./fields.ts";

const KINDS = [...NOTICE_KINDS, "remittance"] as const;

/** Adds the operations on notices: what people were notified of, and whether it was delivered. */
export function addNoticeRoutes(routes: Routes): void {
  addList(routes);
  addRetry(routes);
}

function addList(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "listNotices",
    method: "get",
    path: "/v1/notices",
    tag: "notices",
    summary: "What people were notified of, newest first, and whether it reached them",
    query: z.object({
      business: name.optional(),
      run: idField.optional().describe("Run id"),
      kind: z.enum(KINDS, `must be one of ${KINDS.join(", ")}`).optional(),
      undelivered: yesNo
        .default(false)
        .describe("true: only notices that have not reached everyone (yet)"),
      limit: z.coerce.number().int().min(1).max(500).default(50),
    }),
    responses: { 200: { description: "Newest first", schema: NoticeListBody } },
    handle: async ({ query, context }) => {
      const { db } = context.store;
      const found = await Promise.all(
        (listedFor(context, query.business) ?? [undefined]).map((businessId) =>
          listNotices(db, {
            ...definedOnly({ businessId, runId: query.run, kind: query.kind }),
            undelivered: query.undelivered,
            limit: query.limit,
          }),
        ),
      );
      const newestFirst = found.flat().toSorted((a, b) => b.createdAtMs - a.createdAtMs);
      const notices = newestFirst.slice(0, query.limit);
      const ids = notices.map(({ noticeId }) => noticeId);
      const deliveries = await deliveriesOf(db, ids);
      const items = notices.map((notice) =>
        noticeJson(context, notice, deliveries.get(notice.noticeId) ?? []),
      );
      return { status: 200, json: { items } };
    },
  });
}

function addRetry(routes: Routes): void {
  routes.add({
    whose: async ({ params }, { store }) => (await getNotice(store.db, params.id))?.businessId,
    operationId: "retryNotice",
    method: "post",
    path: "/v1/notices/{id}/retry",
    tag: "notices",
    summary: "Tries again, now, the undelivered parts of a notice; 409 if no channel takes it",
    roles: MAY.operate,
    params: z.object({ id: idField }),
    responses: { 200: { description: "The notice", schema: NoticeBody } },
    handle: async ({ params, principal, context }) => {
      const { store } = context;
      const known = await getNotice(store.db, params.id);
      if (known === undefined) throw notFound(`There is no notice ${params.id}.`);
      const reached = (await deliveriesOf(store.db, [params.id])).get(params.id) ?? [];
      if (reached.length === 0) requireChannel(context, known);
      await store.transactionOf(known.businessId, async (trx) => {
        const tried = await retryNotice(trx, params.id, context.nowMs());
        if (tried === 0) return;
        const nowMs = context.nowMs();
        const head = {
          businessId: known.businessId,
          nowMs,
          by: principal.name,
          subject: params.id,
        };
        await record(trx, noticeRetried(head, { kind: known.kind, deliveries: tried }));
      });
      const notice = (await getNotice(store.db, params.id)) ?? known;
      const deliveries = (await deliveriesOf(store.db, [params.id])).get(params.id) ?? [];
      return { status: 200, json: noticeJson(context, notice, deliveries) };
    },
  });
}

/** @throws GatewayError 409 if no channel of the business now takes a notice to its people */
function requireChannel({ profiles }: Pick<GatewayContext, "profiles">, notice: Notice): void {
  const profile = profiles.byBusinessId(notice.businessId);
  // A vendor's address comes from the service, when the notice is sent.
  if (profile === undefined || notice.contactId !== null) return;
  if (profile.notify !== undefined && routesOf(profile.notify, notice).length > 0) return;
  throw conflict(
    "no_channel",
    `No channel of ${profile.name} takes ${notice.kind}, so it would reach nobody again. Add one under notify: in its profile, restart the gateways and workers, and try again.`,
  );
}

function noticeJson(
  context: Pick<GatewayContext, "profiles">,
  notice: Notice,
  deliveries: readonly NoticeDelivery[],
): z.input<typeof NoticeBody> {
  const profile = context.profiles.byBusinessId(notice.businessId);
  return {
    id: notice.noticeId,
    business: profile?.name ?? null,
    kind: notice.kind,
    runId: notice.runId,
    subject: notice.subject,
    text: notice.text,
    roles: [...notice.roles],
    createdAt: new Date(notice.createdAtMs).toISOString(),
    zone: profile?.zone ?? NEW_YORK,
    state: stateOf(notice, deliveries),
    problem: notice.routeProblem,
    deliveries: deliveries.map((delivery) => ({
      channel: delivery.channel,
      to: masked(delivery.target),
      state: delivery.state,
      tries: delivery.tries,
      problem: delivery.problem,
      nextTryAt: delivery.state === "pending" ? new Date(delivery.nextTryAtMs).toISOString() : null,
      endedAt: delivery.endedAtMs === null ? null : new Date(delivery.endedAtMs).toISOString(),
    })),
  };
}

/** Returns the worst state of a notice's deliveries and addresses; `nobody` if it has none. */
function stateOf(notice: Notice, deliveries: readonly NoticeDelivery[]): string {
  const states = deliveries.map(({ state }) => state);
  const { routedAtMs, routeProblem } = notice;
  if (states.includes("undeliverable")) return "undeliverable";
  if (routedAtMs === null || states.includes("pending")) return "pending";
  if (routeProblem !== null) return "undeliverable";
  return states.length > 0 ? "sent" : "nobody";
}

/** Shortens an address to what is enough to recognize it: `c…@acme.example`. */
function masked(target: string): string | null {
  const [, first, domain] = /^(.).*(@[^@]+)$/.exec(target) ?? [];
  if (first !== undefined && domain !== undefined) return `${first}…${domain}`;
  return target === "" ? null : "…";
}

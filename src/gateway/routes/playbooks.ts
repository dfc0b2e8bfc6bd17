import { z } from "zod";
import { requireFit, storePlaybook } from "../../actions/playbooks/apply-playbook.ts";
import { textHash } from "../../store/playbooks/playbook-proposals.ts";
import { playbookRevisions } from "../../store/playbooks/playbooks.ts";
import type { Routes } from "../http/route.ts";
import { AppliedPlaybookBody, PlaybookListBody, PlaybookRevisionsBody } from "../../api/schemas.ts";
import { ownedPlaybook } from "../../actions/businesses.ts";
import { findPlaybook, playbooksOf } from "../../actions/playbooks/playbooks.ts";
import { readPlaybookText } from "../../actions/playbooks/playbook-text.ts";
import { addProposalRoutes, propose } from "./proposals.ts";
import { zoneOf, zoneOfAll } from "../../reports/moment.ts";
import { businessQuery, MAY, name } from "./fields.ts";

/** Adds the operations on playbooks: an administrator stores them, launches name them. */
export function addPlaybookRoutes(routes: Routes): void {
  addRevisions(routes);
  addApply(routes);
  addProposalRoutes(routes);
  routes.add({
    whose: "profiles",
    operationId: "listPlaybooks",
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
          zone: zoneOfAll(context),
        },
      };
    },
  });
}

function addApply(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "applyPlaybook",
    method: "post",
    path: "/v1/playbooks",
    tag: "playbooks",
    summary: "Stores a playbook under its name; the same text keeps its revision",
    description:
      "A person who applies a playbook doesn't count as an approver of its runs. 422 lists the mistakes of the text, up to a hundred.",
    roles: MAY.administer,
    body: z.strictObject({
      name,
      business: name.optional().describe("The business that owns it, if the text doesn't say"),
      text: z.string().min(1, "must not be empty"),
    }),
    responses: {
      200: { description: "The revision in force", schema: AppliedPlaybookBody },
      202: {
        description: "A proposal, if a second person must confirm it",
        schema: AppliedPlaybookBody,
      },
    },
    handle: async ({ body, principal, context }) => {
      const { playbook, profile } = ownedPlaybook(
        context,
        readPlaybookText(body.name, body.text),
        body.business,
      );
      if (playbook.kind === "pay-run") await requireFit(context, profile, playbook);
      const { name: owned, text } = body;
      const author = { author: principal.name, authorTokenId: principal.tokenId };
      const given = { name: owned, text, playbook, profile };
      if (profile.fourEyes === true) {
        const proposed = await propose(context, given, author);
        if (proposed !== undefined) return { status: 202, json: proposed };
      }
      return { status: 200, json: await storePlaybook(context, given, author) };
    },
  });
}

function addRevisions(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "getPlaybook",
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
          zone: zoneOf(context, stored.business),
          items: revisions.map(({ revision, text, author, createdAtMs }) => ({
            revision,
            text,
            author,
            createdAt: new Date(createdAtMs).toISOString(),
            hash: textHash(text),
          })),
        },
      };
    },
  });
}

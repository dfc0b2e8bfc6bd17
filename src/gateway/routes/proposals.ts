import { playbookProposed } from "../../domain/facts/playbooks.ts";
import { record } from "../../store/facts/record.ts";
import { z } from "zod";
import { principalOf } from "../../contracts/principal.ts";
import {
  endProposal,
  getProposal,
  type PlaybookProposal,
  proposePlaybook,
  textHash,
} from "../../store/playbooks/playbook-proposals.ts";
import { getPlaybook, type StoredPlaybook } from "../../store/playbooks/playbooks.ts";
import {
  type Applied,
  type OwnedText,
  requireFit,
  storePlaybook,
} from "../../actions/playbooks/apply-playbook.ts";
import { businessNamed, ownedPlaybook } from "../../actions/businesses.ts";
import { conflict, notFound, unprocessable } from "../../actions/errors.ts";
import type { Routes } from "../http/route.ts";
import { AppliedPlaybookBody } from "../../api/schemas.ts";
import { ProposalBody } from "../../api/proposals.ts";
import type { ScopedContext } from "../http/scope.ts";
import { readPlaybookText } from "../../actions/playbooks/playbook-text.ts";
import { businessQuery, MAY, name } from "./fields.ts";

const params = z.object({ name });

/**
 * Stores a playbook as a proposal.
 *
 * @returns undefined if the text is in force already: then there is nothing to confirm
 */
export async function propose(
  context: ScopedContext,
  { name: playbook, text, profile }: OwnedText,
  author: Pick<PlaybookProposal, "author" | "authorTokenId">,
): Promise<(Applied & { readonly proposal: string }) | undefined> {
  const { businessId, name: business } = profile;
  const key = { business, name: playbook };
  const inForce = await getPlaybook(context.store.db, key);
  if (inForce?.text === text) return undefined;
  const nowMs = context.nowMs();
  const hash = textHash(text);
  await context.store.transactionOf(businessId, async (trx) => {
    const waiting = await getProposal(trx, key);
    // The first person to write the text stays its author: by proposing it again, another person
    // must not turn the author into the second person.
    if (waiting?.text === text) return;
    await proposePlaybook(trx, { ...key, text, ...author, createdAtMs: nowMs });
    const head = { businessId, nowMs, by: author.author, subject: playbook };
    await record(trx, playbookProposed(head, { hash }));
  });
  const revision = (inForce?.revision ?? 0) + 1;
  return { ...key, revision, changed: true, proposal: hash };
}

/** Adds the operations that show a proposal and let a second person confirm it. */
export function addProposalRoutes(routes: Routes): void {
  routes.add({
    whose: "profiles",
    operationId: "getProposal",
    method: "get",
    path: "/v1/playbooks/{name}/proposal",
    tag: "playbooks",
    summary: "The text of a playbook that waits for a second person, and the one in force",
    params,
    query: businessQuery,
    responses: { 200: { description: "The proposal", schema: ProposalBody } },
    handle: async ({ params: { name: playbook }, query, context }) => {
      const { proposal, inForce } = await proposalOf(context, playbook, query.business);
      const { business, author, text, createdAtMs } = proposal;
      return {
        status: 200,
        json: {
          name: playbook,
          business,
          author,
          text,
          hash: textHash(text),
          createdAt: new Date(createdAtMs).toISOString(),
          before: inForce?.text ?? null,
        },
      };
    },
  });
  routes.add({
    whose: "profiles",
    operationId: "confirmProposal",
    method: "post",
    path: "/v1/playbooks/{name}/confirmation",
    tag: "playbooks",
    summary: "Puts a proposed playbook into force, as a second person who has seen the difference",
    roles: MAY.administer,
    params,
    query: businessQuery,
    body: z.strictObject({ hash: z.string("must be the hash of the text that was looked at") }),
    responses: { 200: { description: "The revision in force", schema: AppliedPlaybookBody } },
    handle: async ({ params: { name: playbook }, query, body, principal, context }) => {
      const { proposal } = await proposalOf(context, playbook, query.business);
      requireSecond(proposal, principal.name, body.hash);
      const { author, authorTokenId, text, business } = proposal;
      const read = readPlaybookText(playbook, text);
      const owned = { name: playbook, text, ...ownedPlaybook(context, read, business) };
      if (owned.playbook.kind === "pay-run") {
        await requireFit(context, owned.profile, owned.playbook);
      }
      const applied = await storePlaybook(
        context,
        owned,
        { author, authorTokenId },
        {
          by: principal.name,
          first: async (trx) => {
            const now = await getProposal(trx, proposal);
            if (now === undefined) throw noProposal(playbook);
            requireSecond(now, principal.name, body.hash);
            await endProposal(trx, proposal);
          },
        },
      );
      return { status: 200, json: applied };
    },
  });
}

async function proposalOf(
  context: ScopedContext,
  playbook: string,
  business: string | undefined,
): Promise<{ proposal: PlaybookProposal; inForce: StoredPlaybook | undefined }> {
  const among =
    business === undefined ? context.profiles.all() : [businessNamed(context, business, "")];
  const { db } = context.store;
  const all = await Promise.all(
    among.map((each) => getProposal(db, { business: each.name, name: playbook })),
  );
  const [proposal, ...others] = all.flatMap((found) => found ?? []);
  if (proposal === undefined) throw noProposal(playbook);
  if (others.length > 0) {
    const owners = [proposal, ...others].map((each) => each.business).join(", ");
    throw unprocessable(
      "business_ambiguous",
      `Several businesses have a proposal “${playbook}” (${owners}): say which one (“business”, or --business on the command line).`,
    );
  }
  return { proposal, inForce: await getPlaybook(db, proposal) };
}

/** @throws GatewayError 409 if the caller proposed the text, or looked at another text */
function requireSecond(
  { author, text, name: playbook }: PlaybookProposal,
  by: string,
  hash: string,
) {
  if (principalOf(author) === principalOf(by)) {
    throw conflict("not_confirmed", `${author} proposed this text; a second person confirms it.`);
  }
  if (textHash(text) !== hash) {
    throw conflict(
      "stale_proposal",
      `The proposal “${playbook}” has changed since you saw it; look again and confirm its new hash.`,
    );
  }
}

function noProposal(playbook: string): Error {
  return notFound(`No text of “${playbook}” waits for a second person.`);
}

import { randomUUID } from "node:crypto";
import { actsFor, tokenProblem } from "../../domain/approvals/token.ts";
import { principalOf } from "../../contracts/principal.ts";
import type { BusinessProfile, SmtpSettings } from "../../config/business-profile.ts";
import { STORE_TRAIL } from "../../store/audit/audit.ts";
import { makeSignInLink } from "../../store/approvals/sessions.ts";
import { listTokens, type Token } from "../../store/approvals/tokens.ts";
import { reasonOf } from "../../process/repeat.ts";
import type { GatewayContext } from "../http/context.ts";
import { linkTo } from "./link.ts";

/** Returns true if a profile has people's own mail addresses. */
export function knowsAddresses(profiles: readonly BusinessProfile[]): boolean {
  return profiles.some(({ notify }) => notify?.people !== undefined);
}

/**
 * Mails links to the person with this address, one for each business's newest valid token of
 * theirs. The request doesn't wait for it, so neither the answer nor its timing reveals whether the
 * address is known.
 */
export async function mailLinks(
  context: GatewayContext,
  { address, to }: { readonly address: string; readonly to: string },
): Promise<void> {
  try {
    for (const each of await peopleAt(context, address)) await mailLink(context, each, to);
  } catch (error) {
    context.log.warn("a link to sign in was not mailed", { reason: reasonOf(error) });
  }
}

interface Addressee {
  readonly token: Token;
  readonly smtp: SmtpSettings;
  /** As the profile writes it. */
  readonly address: string;
}

/**
 * Returns, for each business in which a person has this address, the newest of the person's valid
 * tokens that act for it; each token once.
 */
async function peopleAt(context: GatewayContext, address: string): Promise<readonly Addressee[]> {
  const { store, profiles, nowMs, sandboxesOnly } = context;
  const now = { nowMs: nowMs(), sandboxesOnly: sandboxesOnly() };
  const valid = (await listTokens(store.db)).filter(
    (token) => tokenProblem(token, now) === undefined,
  );
  const found = new Map<string, Addressee>();
  for (const { name: business, notify } of profiles.all()) {
    const { smtp, people = {} } = notify ?? {};
    for (const [name, own] of Object.entries(people)) {
      if (smtp === undefined || own.toLowerCase() !== address.toLowerCase()) continue;
      const token = valid.findLast(
        ({ principal, businesses }) =>
          principal === principalOf(name) && actsFor(businesses, business),
      );
      if (token !== undefined) found.set(token.tokenId, { token, smtp, address: own });
    }
  }
  return [...found.values()];
}

async function mailLink(
  context: GatewayContext,
  { token, smtp, address }: Addressee,
  to: string,
): Promise<void> {
  const nowMs = context.nowMs();
  const { tokenId, name, roles } = token;
  const signIn = { holder: { tokenId }, name, way: "mail", signedInAtMs: nowMs } as const;
  const { code } = await context.store.transactionOf(STORE_TRAIL, (trx) =>
    makeSignInLink(trx, signIn, nowMs),
  );
  const host = new URL(context.publicUrl()).host;
  const sent = await context.mailer.send(smtp, address, {
    subject: `Sign in to Payrun at ${host}`,
    text: `${name} (${roles.join(", ")}) signs in with this link, once, within ten minutes:

${linkTo(context, code, to)}

It was requested for your address. If it wasn't you, delete this mail: nothing happens
without the link.
`,
    messageId: `<${randomUUID()}@${host.replace(/:\d+$/, "")}>`,
  });
  if (sent.kind !== "sent") {
    context.log.warn("a link to sign in was not mailed", { token: tokenId, reason: sent.problem });
  }
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

import { SANDBOX_PROFILES } from "../../config.ts";
import { PaymentsClient } from "../../payments-api/index.ts";
import { CliError, EXIT } from "../terminal/cli-error.ts";
import { readIfThere, writePrivate } from "../home/private-file.ts";
import { SandboxControl } from "../client/sandbox-control.ts";

/** The name of the sandbox's company in playbooks, commands and run ids. */
export const SANDBOX_BUSINESS = "sandbox";

const TOKEN_SECONDS = 30 * 86_400;

/**
 * The folder of the values that the profile refers to and that change with each start; people may
 * edit the rest.
 */
const FACTS = "sandbox-profile";

const PROFILE = `# The sandbox's company. This file is yours: it is written once, and read again when it changes.
# If it is deleted, the next start writes it again. docs/approvals.md and docs/notices.md have all keys.
businesses:
  ${SANDBOX_BUSINESS}:
    apiUrl: \${file:${FACTS}/api-url}
    businessId: \${file:${FACTS}/business-id}
    token: \${file:${FACTS}/token}
    webhookSecrets: \${file:${FACTS}/webhook-secret}
    sandbox: true
    # The person who accepted the ACH debit authorization; every source but the balance needs it:
    # achAuthorization: { acceptedBy: Ada Okafor, acceptedAt: 2026-01-05 }
    # Whom to notify:
    # notify: { channels: { ops: { slack: "http://127.0.0.1:9000/hook" } } }
    # Systems that decide, by signature:
    # signers: { erp-2026: { name: erp, roles: [controller], publicKey: "\${file:erp.pub}" } }
`;

const greetingShape = z.object({
  url: z.string(),
  businesses: z.array(z.object({ businessId: z.string() })),
});

export interface SandboxBusiness {
  readonly businessId: string;
  readonly apiUrl: string;
  /** The profiles file for the worker and the gateway. */
  readonly profilesPath: string;
  readonly token: string;
  readonly webhookEndpointId: string;
}

/** Returns the id of the business in this home's profile; undefined if none was made. */
export function knownSandboxBusiness(home: string): string | undefined {
  return readIfThere(join(home, FACTS, "business-id"))?.trim();
}

/**
 * Makes the sandbox's company a business of this home: a token, a webhook endpoint at the gateway,
 * and a profile with both, which is never overwritten.
 *
 * @param greeting what the sandbox printed when it was ready
 * @param gatewayUrl the address at which the gateway will listen
 */
export async function connectSandbox(options: {
  readonly home: string;
  readonly greeting: Readonly<Record<string, unknown>>;
  readonly gatewayUrl: string;
}): Promise<SandboxBusiness> {
  const { home, gatewayUrl } = options;
  const { url: apiUrl, businesses } = greetingShape.parse(options.greeting);
  const [business] = businesses;
  if (business === undefined) {
    throw new CliError(EXIT.failed, `the sandbox in ${join(home, "sandbox")} has no business`, {
      hint: "Move that folder away; a new sandbox is then made.",
    });
  }
  const { businessId } = business;
  const token = await new SandboxControl(apiUrl).token(businessId, TOKEN_SECONDS);
  const known = readIfThere(join(home, FACTS, "webhook-secret"))?.trim();
  const endpoint = await ensureEndpoint({ apiUrl, token, gatewayUrl, secret: known });
  const facts = { "api-url": apiUrl, "business-id": businessId, token };
  for (const [name, value] of Object.entries({ ...facts, "webhook-secret": endpoint.secret })) {
    writePrivate(join(home, FACTS, name), `${value}\n`);
  }
  const profilesPath = join(home, SANDBOX_PROFILES);
  if (!existsSync(profilesPath)) writePrivate(profilesPath, PROFILE);
  return { businessId, apiUrl, profilesPath, token, webhookEndpointId: endpoint.id };
}

const WEBHOOK_PATH = `/webhooks/${SANDBOX_BUSINESS}`;

/** Moves the endpoint with the gateway, which may listen on another port than before. */
async function ensureEndpoint(options: {
  readonly apiUrl: string;
  readonly token: string;
  readonly gatewayUrl: string;
  /** The secret of the existing endpoint. */
  readonly secret: string | undefined;
}): Promise<{ readonly id: string; readonly secret: string }> {
  const { apiUrl, token, gatewayUrl, secret } = options;
  const url = `${gatewayUrl}${WEBHOOK_PATH}`;
  const client = new PaymentsClient({ baseUrl: apiUrl, token: { value: token } });
  try {
    const all = await client.webhookEndpoints.list();
    const kept = all.find((endpoint) => endpoint.url?.endsWith(WEBHOOK_PATH));
    if (kept !== undefined) {
      // Resumes an endpoint that was paused because nothing was listening while everything was
      // stopped.
      await client.webhookEndpoints.update(kept.id, { url, status: "active" });
      if (secret !== undefined) return { id: kept.id, secret };
      return withSecret(await client.webhookEndpoints.rotateSecret(kept.id));
    }
    const description = "Payrun gateway";
    return withSecret(await client.webhookEndpoints.create({ url, events: ["*"], description }));
  } finally {
    await client.close();
  }
}

function withSecret({
  id,
  secret,
}: {
  readonly id: string;
  readonly secret?: string | null | undefined;
}): {
  readonly id: string;
  readonly secret: string;
} {
  if (secret == null) {
    throw new CliError(EXIT.failed, "the sandbox made a webhook endpoint without a secret");
  }
  return { id, secret };
}

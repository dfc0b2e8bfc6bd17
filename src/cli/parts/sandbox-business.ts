import { join } from "node:path";
import { stringify } from "yaml";
import { z } from "zod";

import { PaymentsClient } from "../../payments-api/index.ts";
import { CliError, EXIT } from "../terminal/cli-error.ts";
import { writePrivate } from "../home/private-file.ts";
import { SandboxControl } from "../client/sandbox-control.ts";

/** What playbooks, commands and run ids call the sandbox's company. */
export const SANDBOX_BUSINESS = "sandbox";

const TOKEN_SECONDS = 30 * 86_400;

const greetingShape = z.object({
  url: z.string(),
  businesses: z.array(
    z.object({
      businessId: z.string(),
      webhookEndpoints: z.array(z.object({ id: z.string(), url: z.string(), secret: z.string() })),
    }),
  ),
});

export interface SandboxBusiness {
  readonly businessId: string;
  readonly apiUrl: string;
  /** The profiles file for the worker and the gateway. */
  readonly profilesPath: string;
  readonly token: string;
  readonly webhookEndpointId: string;
}

/**
 * Makes the sandbox's company a business of this home: a token, a webhook endpoint at the gateway,
 * and the profile that says so, each kept where it is still good.
 *
 * @param greeting what the sandbox said when it was ready
 * @param gatewayUrl where the gateway will listen
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
      hint: "Move that folder away; a new sandbox is made then.",
    });
  }
  const { businessId, webhookEndpoints } = business;
  const token = await new SandboxControl(apiUrl).token(businessId, TOKEN_SECONDS);
  const endpoint = await ensureEndpoint({ apiUrl, token, gatewayUrl, webhookEndpoints });
  writePrivate(join(home, "sandbox.token"), `${token}\n`);
  const profilesPath = join(home, "sandbox-profiles.yaml");
  writePrivate(
    profilesPath,
    stringify({
      businesses: {
        [SANDBOX_BUSINESS]: {
          apiUrl,
          businessId,
          token: "${file:sandbox.token}",
          webhookSecrets: [endpoint.secret],
          sandbox: true,
        },
      },
    }),
  );
  return { businessId, apiUrl, profilesPath, token, webhookEndpointId: endpoint.id };
}

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
}

const WEBHOOK_PATH = `/webhooks/${SANDBOX_BUSINESS}`;

/** The gateway may listen on another port than before: its endpoint moves with it. */
async function ensureEndpoint(options: {
  readonly apiUrl: string;
  readonly token: string;
  readonly gatewayUrl: string;
  readonly webhookEndpoints: readonly Endpoint[];
}): Promise<Endpoint> {
  const { apiUrl, token, gatewayUrl, webhookEndpoints } = options;
  const url = `${gatewayUrl}${WEBHOOK_PATH}`;
  const kept = webhookEndpoints.find((endpoint) => endpoint.url.endsWith(WEBHOOK_PATH));
  const client = new PaymentsClient({ baseUrl: apiUrl, token: { value: token } });
  try {
    if (kept !== undefined) {
      // Resumes one that was paused because nobody listened while everything was stopped.
      await client.webhookEndpoints.update(kept.id, { url, status: "active" });
      return { ...kept, url };
    }
    const description = "Payrun gateway";
    const made = await client.webhookEndpoints.create({ url, events: ["*"], description });
    if (made.secret == null) {
      throw new CliError(EXIT.failed, "the sandbox made a webhook endpoint without a secret");
    }
    return { id: made.id, url, secret: made.secret };
  } finally {
    await client.close();
  }
}

import { join } from "node:path";
import { stringify } from "yaml";
import { z } from "zod";

import { PaymentsClient } from "../payments-api/index.ts";
import { CliError, EXIT } from "./cli-error.ts";
import { readJsonIfThere, writePrivate } from "./private-file.ts";
import { SandboxControl } from "./sandbox-control.ts";

/** What playbooks, commands and run ids call the sandbox's company. */
export const SANDBOX_BUSINESS = "sandbox";

const TOKEN_SECONDS = 30 * 86_400;

const state = z.object({
  businessId: z.string(),
  endpoint: z.object({ id: z.string(), url: z.string(), secret: z.string() }).optional(),
});

const greetingShape = z.object({
  url: z.string(),
  businesses: z.array(z.object({ businessId: z.string() })).optional(),
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
  const path = join(home, "sandbox-business.json");
  const known = state.safeParse(readJsonIfThere(path)).data;
  const fresh = businesses?.[0]?.businessId;
  const businessId = fresh ?? known?.businessId;
  if (businessId === undefined) throw orphaned(home);
  const token = await new SandboxControl(apiUrl).token(businessId, TOKEN_SECONDS);
  const webhookUrl = `${gatewayUrl}/webhooks/${SANDBOX_BUSINESS}`;
  const kept = fresh === undefined ? known?.endpoint : undefined;
  const endpoint = await ensureEndpoint({ apiUrl, token, webhookUrl, kept });
  writePrivate(path, `${JSON.stringify({ businessId, endpoint }, null, 2)}\n`);
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

type Endpoint = NonNullable<z.infer<typeof state>["endpoint"]>;

async function ensureEndpoint(options: {
  readonly apiUrl: string;
  readonly token: string;
  readonly webhookUrl: string;
  readonly kept: Endpoint | undefined;
}): Promise<Endpoint> {
  const { apiUrl, token, webhookUrl, kept } = options;
  const client = new PaymentsClient({ baseUrl: apiUrl, token: { value: token } });
  try {
    if (kept !== undefined) {
      // Resumes one that was paused because nobody listened while everything was stopped.
      await client.webhookEndpoints.update(kept.id, { url: webhookUrl, status: "active" });
      return { ...kept, url: webhookUrl };
    }
    const made = await client.webhookEndpoints.create({
      url: webhookUrl,
      events: ["*"],
      description: "Payrun gateway",
    });
    if (made.secret == null) {
      throw new CliError(EXIT.failed, "the sandbox made a webhook endpoint without a secret");
    }
    return { id: made.id, url: webhookUrl, secret: made.secret };
  } finally {
    await client.close();
  }
}

function orphaned(home: string): CliError {
  return new CliError(
    EXIT.failed,
    `the sandbox in ${join(home, "sandbox")} was made by something else, and its business is not known here`,
    { code: "sandbox_foreign", hint: "Move that folder away; a new sandbox is made then." },
  );
}

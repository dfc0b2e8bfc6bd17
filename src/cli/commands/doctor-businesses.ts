import type { BusinessProfile, Config } from "../../config.ts";
import type { Clients } from "../../business/clients.ts";
import { limitTexts } from "../../domain/planning/limits.ts";
import { ownEndpoints, webhookUrl } from "../../events/own-endpoints.ts";
import { resumed, skewOf } from "../../reports/conditions.ts";
import { PaymentsApiError } from "../../payments-api/index.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import { readRunning } from "../home/running-file.ts";
import { errorReason } from "../terminal/cli-error.ts";
import { counted } from "../../domain/counted.ts";

export interface Check {
  readonly name: string;
  readonly state: "ok" | "warning" | "failed";
  readonly text: string;
  /** What to do about it. */
  readonly remedy?: string;
}

/** Returns the warning for a plaintext connection that the settings allow. */
export function plain(name: string, text: string): Check {
  return {
    name,
    state: "warning",
    text: `${text}: on another machine, without TLS`,
    remedy: "PAYRUN_ALLOW_PLAINTEXT allows it, which is for private networks only.",
  };
}

export async function noBusiness({ home }: Config): Promise<Check> {
  if (readRunning(home) !== undefined) {
    return { name: "Businesses", state: "ok", text: "the sample company of the sandbox beside it" };
  }
  return {
    name: "Businesses",
    state: "warning",
    text: "none is configured",
    remedy:
      "Set PAYRUN_PROFILES or the PAYMENTS_… settings; otherwise “payrun up” uses its sandbox.",
  };
}

export async function businessCheck(
  clients: Clients,
  business: BusinessProfile,
  aheadMs: ReadonlyMap<string, number>,
): Promise<Check> {
  const name = `Business ${business.name}`;
  const kind = business.sandbox ? "a sandbox, no real money" : "real money";
  try {
    const sources = await clients.of(business).fundingSources.list();
    const payable = sources.filter(({ canPay }) => canPay).length;
    // A sandbox's clocks may be stepped.
    const skew = business.sandbox
      ? undefined
      : skewOf("The service", aheadMs.get(business.name) ?? 0);
    if (skew !== undefined) return { name, state: "warning", ...skew };
    if (business.webhookSecrets.length === 0) {
      return {
        name,
        state: "warning",
        text: `${business.apiUrl} (${kind}); webhookSecrets is empty: changes are found by polling only`,
      };
    }
    const text = `${business.apiUrl} (${kind}); ${counted(payable, "funding source")} can pay`;
    if (payable > 0) return { name, state: "ok", text };
    const remedy =
      "Bills are paid once the business is verified and a bank account is linked (docs/kyb-onboarding.md).";
    return { name, state: "warning", text, remedy };
  } catch (error) {
    return {
      name,
      state: "failed",
      text: `${business.apiUrl}: ${errorReason(error)}`,
      remedy: "Check apiUrl, businessId and the token of its profile.",
    };
  }
}

/** Lists the limits of a business, which no playbook can raise. */
export function limitsCheck({ name, limits }: BusinessProfile): Check[] {
  const texts = limits === undefined ? [] : limitTexts(limits);
  return texts.length === 0
    ? []
    : [{ name: `Limits of ${name}`, state: "ok", text: texts.join(", ") }];
}

/**
 * Checks whether the service sends webhooks to our gateway; with `fix`, resumes an endpoint that
 * the service has paused.
 */
export async function webhookCheck(
  clients: Clients,
  business: BusinessProfile,
  config: Config,
  fix: boolean,
): Promise<Check[]> {
  const name = `Webhooks of ${business.name}`;
  const publicUrl = publicUrlOf(config);
  const client = clients.of(business);
  try {
    const endpoints = await ownEndpoints(client, publicUrl, business.name);
    if (endpoints.length === 0) {
      const url = webhookUrl(publicUrl, business.name);
      const text = `no endpoint of the service leads to ${url}: changes are found by polling only`;
      const remedy =
        "Make one in the service's dashboard with that address (PAYRUN_PUBLIC_URL names the gateway), and put its secret into webhookSecrets.";
      return [{ name, state: "warning", text, remedy }];
    }
    const paused = endpoints.filter(({ status }) => status === "paused");
    if (paused.length === 0) return [{ name, state: "ok", text: endpoints[0]?.url ?? "" }];
    const text = `the service has paused ${paused.map(({ id }) => id).join(", ")}`;
    const remedy = resumed(webhookUrl(publicUrl, business.name));
    if (!fix) return [{ name, state: "warning", text, remedy }];
    const kept = await resume(client, paused);
    if (kept !== undefined) return [{ name, state: "failed", text: `${text}; ${kept}`, remedy }];
    return [
      {
        name,
        state: "ok",
        text: `${text}; resumed now, and paused again if the service doesn't reach the gateway`,
      },
    ];
  } catch (error) {
    // Reading webhooks is optional: a token without webhooks:read can still pay, and another check
    // already reports a service that is down.
    if (!fix) return [];
    const remedy = "The token needs webhooks:read and webhooks:manage.";
    return [{ name, state: "failed", text: `could not be checked: ${errorReason(error)}`, remedy }];
  }
}

/** Asks the service to resume endpoints. Returns what prevents it, if anything does. */
async function resume(
  { webhookEndpoints }: ReturnType<Clients["of"]>,
  paused: Awaited<ReturnType<typeof ownEndpoints>>,
): Promise<string | undefined> {
  for (const { id } of paused) {
    try {
      const { status } = await webhookEndpoints.update(id, { status: "active" });
      if (status === "paused") return `it was asked to resume ${id}, but still shows it as paused`;
    } catch (error) {
      const isRefused = error instanceof PaymentsApiError && error.status === 403;
      const hint = isRefused ? " (the token needs webhooks:manage)" : "";
      return `it does not resume ${id}: ${errorReason(error)}${hint}`;
    }
  }
  return undefined;
}

/**
 * Returns the address at which the service reaches the gateway: the one in the settings, otherwise
 * where the gateway runs.
 */
function publicUrlOf(config: Config): string {
  const isSaid = config.settings.some(({ name, isSet }) => name === "PAYRUN_PUBLIC_URL" && isSet);
  return isSaid ? config.publicUrl : gatewayOf(config).url;
}

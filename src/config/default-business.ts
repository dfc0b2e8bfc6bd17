import type { BusinessProfile } from "./business-profile.ts";
import { NOTIFY_VARIABLES, notifyVariable, readDefaultNotify } from "./default-notify.ts";
import { businessShape, toBusinessProfile } from "./business-profile.ts";
import type { SettingName, SettingValues } from "./settings.ts";

const NAMES = {
  apiUrl: "PAYMENTS_API_URL",
  businessId: "PAYMENTS_BUSINESS_ID",
  token: "PAYMENTS_API_TOKEN",
  webhookSecrets: "PAYMENTS_WEBHOOK_SECRETS",
  acceptedBy: "PAYMENTS_ACH_ACCEPTED_BY",
  acceptedAt: "PAYMENTS_ACH_ACCEPTED_AT",
  sandbox: "PAYMENTS_API_SANDBOX",
  signers: "PAYMENTS_SIGNERS",
} as const satisfies Record<string, SettingName>;

const REQUIRED = [NAMES.apiUrl, NAMES.businessId, NAMES.token] as const;

/**
 * The business `default`, as the `PAYMENTS_…` variables describe it.
 *
 * @returns no business where none of them is set, else one, or the mistakes, each with the
 *   variable's name.
 */
export function readDefaultBusiness(values: SettingValues): {
  businesses: BusinessProfile[];
  problems: string[];
} {
  const all: readonly SettingName[] = [...Object.values(NAMES), ...NOTIFY_VARIABLES];
  if (all.every((name) => values[name] === undefined)) {
    return { businesses: [], problems: [] };
  }
  const missing = REQUIRED.filter((name) => values[name] === undefined);
  if (missing.length > 0) {
    const problems = missing.map((name) => `${name} is missing: the other PAYMENTS_… need it`);
    return { businesses: [], problems };
  }
  const notify = readDefaultNotify(values);
  const by = values[NAMES.acceptedBy];
  const at = values[NAMES.acceptedAt];
  const parsed = businessShape.safeParse({
    apiUrl: values[NAMES.apiUrl],
    businessId: values[NAMES.businessId],
    token: { kind: "value", value: values[NAMES.token] },
    webhookSecrets: values[NAMES.webhookSecrets],
    sandbox: values[NAMES.sandbox],
    ...(by !== undefined || at !== undefined
      ? { achAuthorization: { acceptedBy: by, acceptedAt: at } }
      : {}),
    ...(notify === undefined ? {} : { notify }),
  });
  if (parsed.success) {
    const profile = toBusinessProfile("default", parsed.data);
    const signers = values[NAMES.signers];
    return { businesses: [signers ? { ...profile, signers } : profile], problems: [] };
  }
  const problems = parsed.error.issues.map((issue) => {
    const field = issue.path.at(-1);
    const own = Object.entries(NAMES).find(([key]) => key === field)?.[1];
    const name = notifyVariable(issue.path) ?? own;
    const isMissing = name !== undefined && values[name] === undefined;
    return `${name ?? "PAYMENTS_…"} ${isMissing ? "is missing" : issue.message}`;
  });
  return { businesses: [], problems };
}

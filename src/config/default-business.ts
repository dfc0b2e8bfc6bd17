import { definedOnly } from "../contracts/defined-only.ts";
import { inSentence } from "../contracts/in-sentence.ts";
import { type BusinessProfile, businessShape, toBusinessProfile } from "./business-profile.ts";
import type { SettingName, SettingValues } from "./settings.ts";
import { SANDBOX_PROFILES } from "./trust.ts";

/** The variable for each place in a profile's `notify`, by the path from there on. */
const VARIABLES = {
  "smtp.url": "PAYMENTS_NOTIFY_SMTP_URL",
  "smtp.from": "PAYMENTS_NOTIFY_SMTP_FROM",
  "channels.webhook.secret": "PAYMENTS_NOTIFY_WEBHOOK_SECRET",
  "channels.webhook": "PAYMENTS_NOTIFY_WEBHOOK",
  "channels.slack": "PAYMENTS_NOTIFY_SLACK",
  "channels.email": "PAYMENTS_NOTIFY_EMAIL",
} as const satisfies Record<string, SettingName>;

const NOTIFY_VARIABLES: readonly SettingName[] = Object.values(VARIABLES);

/** Returns the variable that a mistake under `notify` is about. */
function notifyVariable(path: readonly PropertyKey[]): SettingName | undefined {
  if (path[0] !== "notify") return undefined;
  const below = path.slice(1).join(".");
  return Object.entries(VARIABLES).find(([place]) => below.startsWith(place))?.[1];
}

/**
 * Returns the channels for notices that the variables describe: one each for a webhook, Slack and
 * e-mail, with every kind of notice over each.
 *
 * @returns `notify` as a profile would have it; undefined if none of the variables is set
 */
function readDefaultNotify(values: SettingValues): object | undefined {
  if (NOTIFY_VARIABLES.every((name) => values[name] === undefined)) return undefined;
  const {
    PAYMENTS_NOTIFY_SMTP_URL: url,
    PAYMENTS_NOTIFY_SMTP_FROM: from,
    PAYMENTS_NOTIFY_WEBHOOK: webhook,
    PAYMENTS_NOTIFY_WEBHOOK_SECRET: secret,
    PAYMENTS_NOTIFY_SLACK: slack,
    PAYMENTS_NOTIFY_EMAIL: email,
  } = values;
  const hasWebhook = webhook !== undefined || secret !== undefined;
  return {
    ...(url === undefined && from === undefined ? {} : { smtp: { url, from } }),
    channels: {
      ...(hasWebhook ? { webhook: { webhook, secret } } : {}),
      ...(slack === undefined ? {} : { slack: { slack } }),
      ...(email === undefined ? {} : { email: { email } }),
    },
  };
}

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

/** Says what to do about variables that describe no business, only what one may have. */
function nobodys(given: readonly SettingName[]): string {
  const verb = given.length === 1 ? "belongs" : "belong";
  return `${inSentence(given)} ${verb} to the business that ${inSentence(REQUIRED)} describe, and none of these is set. The sandbox of “payrun up” takes no PAYMENTS_…: unset them, and write signers, notify and achAuthorization into ${SANDBOX_PROFILES} in PAYRUN_HOME, which its first start makes`;
}

/**
 * Reads the business `default`, as the `PAYMENTS_…` variables describe it.
 *
 * @returns no business if none of them is set; otherwise one business, or the mistakes, each with
 *   the variable's name
 */
export function readDefaultBusiness(values: SettingValues): {
  businesses: BusinessProfile[];
  problems: string[];
} {
  const all: readonly SettingName[] = [...Object.values(NAMES), ...NOTIFY_VARIABLES];
  const given = all.filter((name) => values[name] !== undefined);
  if (given.length === 0) return { businesses: [], problems: [] };
  const missing = REQUIRED.filter((name) => values[name] === undefined);
  if (missing.length === REQUIRED.length) return { businesses: [], problems: [nobodys(given)] };
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
    ...definedOnly({ notify }),
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

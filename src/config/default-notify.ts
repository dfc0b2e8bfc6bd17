import type { SettingName, SettingValues } from "./settings.ts";

/** Where each variable stands in a profile's `notify`, from the innermost key on. */
const VARIABLES = {
  "smtp.url": "PAYMENTS_NOTIFY_SMTP_URL",
  "smtp.from": "PAYMENTS_NOTIFY_SMTP_FROM",
  "channels.webhook.secret": "PAYMENTS_NOTIFY_WEBHOOK_SECRET",
  "channels.webhook": "PAYMENTS_NOTIFY_WEBHOOK",
  "channels.slack": "PAYMENTS_NOTIFY_SLACK",
  "channels.email": "PAYMENTS_NOTIFY_EMAIL",
} as const satisfies Record<string, SettingName>;

export const NOTIFY_VARIABLES: readonly SettingName[] = Object.values(VARIABLES);

/** The variable that a mistake under `notify` is about. */
export function notifyVariable(path: readonly PropertyKey[]): SettingName | undefined {
  if (path[0] !== "notify") return undefined;
  const below = path.slice(1).join(".");
  return Object.entries(VARIABLES).find(([place]) => below.startsWith(place))?.[1];
}

/**
 * Whom to tell and over what, as the variables say it: one channel each for a webhook, Slack and
 * e-mail, every kind of notice over each.
 *
 * @returns `notify` as a profile would have it; undefined where none of them is set
 */
export function readDefaultNotify(values: SettingValues): object | undefined {
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

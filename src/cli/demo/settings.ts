import { join } from "node:path";

import { type Config, environmentWith, loadConfig } from "../../config.ts";

/** Settings of the user's own store, businesses and servers: the demo touches none of them. */
const NOT_OURS = {
  PAYRUN_DATABASE_URL: undefined,
  PAYRUN_PROFILES: undefined,
  PAYRUN_PUBLIC_URL: undefined,
  PAYRUN_GATEWAY_URL: undefined,
  PAYRUN_TOKEN: undefined,
  PAYMENTS_API_URL: undefined,
  PAYMENTS_API_TOKEN: undefined,
  PAYMENTS_BUSINESS_ID: undefined,
  PAYMENTS_WEBHOOK_SECRETS: undefined,
  PAYMENTS_ACH_ACCEPTED_BY: undefined,
  PAYMENTS_ACH_ACCEPTED_AT: undefined,
  PAYMENTS_API_SANDBOX: undefined,
  TEMPORAL_ADDRESS: undefined,
  TEMPORAL_PROFILE: undefined,
  TEMPORAL_CONFIG_FILE: undefined,
} as const;

export interface DemoSettings {
  readonly config: Config;
  readonly home: string;
  /** Outlives a demo that starts over. */
  readonly bundleFolder: string;
}

/** The settings of the demo: the user's ports, and everything else its own. */
export function demoSettings(): DemoSettings {
  const user = loadConfig(environmentWith(NOT_OURS));
  const home = join(user.home, "demo");
  const databaseUrl = `sqlite:${join(home, "payrun.db")}`;
  const config = loadConfig(
    environmentWith({ ...NOT_OURS, PAYRUN_HOME: home, PAYRUN_DATABASE_URL: databaseUrl }),
  );
  return { config, home, bundleFolder: join(user.home, "cache") };
}

import { existsSync } from "node:fs";
import type { Config, SettingName } from "../../config.ts";
import { ownToken } from "../home/people.ts";
import type { Check } from "./doctor-businesses.ts";

/** Settings that are no evidence of an existing Payrun. */
const SAY_NOTHING: readonly SettingName[] = ["PAYRUN_HOME", "TEMPORAL_CLI"];

/**
 * True if only default ports give the addresses: there is no setting, business, token or home of
 * Payrun here. What answers may belong to someone else.
 */
export function isAnybodys(config: Config): boolean {
  const { settings, temporal, profiles, home } = config;
  const isSet = settings.some((each) => each.isSet && !SAY_NOTHING.includes(each.name));
  if (isSet || temporal.isExternal || profiles.all().length > 0) return false;
  return ownToken(config) === undefined && !existsSync(home);
}

/** Returns a check of something that answers but may belong to someone else. */
export function anybodys(name: string, text: string): Check {
  return {
    name,
    state: "warning",
    text: `${text} answers, but nothing here shows that it is yours`,
    remedy: "If you have a Payrun, run this in its folder, or name it with PAYRUN_HOME.",
  };
}

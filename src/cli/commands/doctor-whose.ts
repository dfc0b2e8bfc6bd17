import { existsSync } from "node:fs";
import type { Config, SettingName } from "../../config.ts";
import { ownToken } from "../home/people.ts";
import type { Check } from "./doctor-businesses.ts";

/** Settings that say nothing of a Payrun that works already. */
const SAY_NOTHING: readonly SettingName[] = ["PAYRUN_HOME", "TEMPORAL_CLI"];

/**
 * True where only a default port says where anything is: there is neither a setting, nor a business,
 * a token or a home of Payrun here. What answers may be somebody else's.
 */
export function isAnybodys(config: Config): boolean {
  const { settings, temporal, profiles, home } = config;
  const isSet = settings.some((each) => each.isSet && !SAY_NOTHING.includes(each.name));
  if (isSet || temporal.isExternal || profiles.all().length > 0) return false;
  return ownToken(config) === undefined && !existsSync(home);
}

/** A check of what answers, and may be somebody else's. */
export function anybodys(name: string, text: string): Check {
  return {
    name,
    state: "warning",
    text: `${text} answers, and nothing here shows that it is yours`,
    remedy: "Where you have a Payrun, run this in its folder, or name it with PAYRUN_HOME.",
  };
}

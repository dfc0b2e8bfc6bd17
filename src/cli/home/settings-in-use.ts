import { type Config, SANDBOX_PROFILES, type SettingLine, type SettingName } from "../../config.ts";
import { readRunning } from "./running-file.ts";

/**
 * Returns the settings, with the values that `up` has used instead of defaults: it takes another
 * port if one is taken, and makes the profiles of its sandbox.
 */
export function settingsInUse(config: Config): readonly SettingLine[] {
  const running = readRunning(config.home);
  const isSet = (name: SettingName) =>
    config.settings.some((each) => each.name === name && each.isSet);
  const used: Partial<Record<SettingName, string>> = {};
  if (running !== undefined) {
    used.PAYRUN_GATEWAY_PORT = portOf(running.gatewayUrl);
    used.PAYRUN_TEMPORAL_PORT = portOf(`tcp://${running.temporal}`);
    if (running.sandboxUrl !== null) used.PAYRUN_SANDBOX_PORT = portOf(running.sandboxUrl);
    if (!isSet("PAYRUN_GATEWAY_PORT")) used.PAYRUN_GATEWAY_URL = running.gatewayUrl;
  }
  if (config.isHomeSandbox) used.PAYRUN_PROFILES = `${SANDBOX_PROFILES} in PAYRUN_HOME`;
  return config.settings.map((line) =>
    line.isSet ? line : { ...line, value: used[line.name] ?? line.value },
  );
}

function portOf(url: string): string {
  return new URL(url).port;
}

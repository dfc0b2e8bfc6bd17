const NAMES = [
  ...["PATH", "HOME", "XDG_CONFIG_HOME", "NODE_COMPILE_CACHE"],
  // The day on which the tests run: test/support/fixed-day.mjs.
  ...["NODE_OPTIONS", "TEST_NOW", "TEST_STARTED_MS"],
];

/** Returns what a process needs of this machine to start, and none of its settings. */
export function machineEnv(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of NAMES) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}

/** What a process needs of this machine to start, and nothing of its settings. */
export function machineEnv(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of ["PATH", "HOME", "NODE_COMPILE_CACHE"]) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}

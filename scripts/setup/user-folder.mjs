import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import process from "node:process";

/**
 * Returns Payrun's folder among the user's own, by the XDG specification, which says to ignore
 * relative paths. The folder may not exist.
 *
 * @param {"XDG_CACHE_HOME" | "XDG_CONFIG_HOME"} variable
 * @param {string} otherwise the folder in the user's home if the variable isn't set
 * @param {Readonly<Record<string, string | undefined>>} [env]
 */
export function userFolder(variable, otherwise, env = process.env) {
  const xdg = env[variable];
  const base = xdg && isAbsolute(xdg) ? xdg : join(env["HOME"] || homedir(), otherwise);
  return join(base, "payrun");
}

import { basename } from "node:path";

/**
 * Returns the command of the user's own npm: the one that started us, with the Node on which it
 * runs, otherwise the one on the PATH.
 *
 * @param {import("./cache-folder.mjs").Env} env
 * @returns {{ command: string, args: string[] }}
 */
export function npmCommand(env) {
  const script = env["npm_execpath"];
  // Other package managers also set this variable.
  if (script && basename(script) === "npm-cli.js") {
    return { command: env["npm_node_execpath"] || process.execPath, args: [script] };
  }
  return { command: "npm", args: [] };
}

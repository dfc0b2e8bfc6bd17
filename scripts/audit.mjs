import { npmCommand } from "./setup/npm.mjs";
import { runCommand } from "./setup/run-command.mjs";

const TIMEOUT_MS = 15_000;

/**
 * Queries the registry for known vulnerabilities in the packages that we use.
 *
 * @param {object} options
 * @param {import("./setup/cache-folder.mjs").Env} options.env
 * @param {string} options.cwd the checkout
 * @returns {Promise<{ answered: boolean, holes: string[] }>} `holes`: those of level high and above
 */
export async function auditPackages({ env, cwd }) {
  const npm = npmCommand(env);
  const flags = ["audit", "--json", "--audit-level=high", "--fetch-retries=0"];
  const options = { env, cwd, timeoutMs: TIMEOUT_MS };
  const { stdout } = await runCommand(npm.command, [...npm.args, ...flags], options);
  const found = vulnerabilitiesIn(stdout);
  if (found === undefined) return { answered: false, holes: [] };
  const bad = Object.values(found).filter(({ severity }) => /^(high|critical)$/.test(severity));
  return { answered: true, holes: bad.map(({ name, severity }) => `${name} (${severity})`) };
}

/**
 * @param {string} json
 * @returns {Record<string, { name: string, severity: string }> | undefined} undefined if the
 * registry gave no answer
 */
function vulnerabilitiesIn(json) {
  try {
    const answer =
      /** @type {{ vulnerabilities?: Record<string, { name: string, severity: string }> }} */ (
        JSON.parse(json)
      );
    return answer.vulnerabilities;
  } catch {
    return undefined;
  }
}

import type { Playbook } from "../../contracts/playbook.ts";
import { loadPlaybook } from "../../playbooks/load.ts";
import { formatProblems } from "../../playbooks/problem.ts";
import { unprocessable } from "../errors.ts";

/** @throws GatewayError 422 with the mistakes of the text, each with its place */
export function readPlaybookText(name: string, text: string): Playbook {
  const loaded = loadPlaybook(text, { file: `${name}.yaml`, name });
  if (loaded.ok) return loaded.playbook;
  throw unprocessable("invalid_playbook", formatProblems(loaded.problems), loaded.problems);
}

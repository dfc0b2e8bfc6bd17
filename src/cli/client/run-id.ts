import type { GatewayClient } from "./gateway-client.ts";
import { findMeant } from "./names.ts";

/**
 * Returns the id of the run that a person means: by its id, by a playbook's name (its newest run),
 * or as `rent/2026-11-26`.
 *
 * @throws {CliError} 2 if there is none, or if several businesses have one
 */
export async function findRunId(gateway: GatewayClient, text: string): Promise<string> {
  return (await findMeant(gateway, { kind: "run", text })).id;
}

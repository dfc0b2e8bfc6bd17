import type { GatewayClient } from "./gateway-client.ts";
import { findOne } from "./names.ts";

/**
 * The id of the run that a person means: by its id, by a playbook's name for its newest run, or as
 * `rent/2026-11-26`.
 *
 * @throws {CliError} 2 where there is none, or several businesses have one
 */
export async function findRunId(gateway: GatewayClient, text: string): Promise<string> {
  return (await findOne(gateway, { kind: "run", text })).id;
}

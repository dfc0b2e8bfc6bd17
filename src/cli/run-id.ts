import type { GatewayClient } from "./gateway-client.ts";
import { runList } from "./gateway-shapes.ts";
import { CliError, EXIT } from "./cli-error.ts";

/**
 * The id that a person means: an id as it is, or a playbook's name for its newest run.
 *
 * @throws {CliError} 1 where no run of that playbook is known
 */
export async function findRunId(gateway: GatewayClient, text: string): Promise<string> {
  if (text.includes("/")) return text;
  const { items } = await gateway.get("/v1/runs?limit=500", runList);
  const newest = items.find(
    ({ playbook, kind }) => playbook === text && kind !== "retry-failed-payment",
  );
  if (newest !== undefined) return newest.id;
  throw new CliError(EXIT.failed, `“${text}” is neither a run's id nor a playbook that has run`, {
    code: "not_found",
    hint: "“payrun status” lists the runs.",
  });
}

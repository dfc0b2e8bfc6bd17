import type { GatewayClient } from "./gateway-client.ts";
import { CliError, EXIT, usageError } from "../terminal/cli-error.ts";
import { RunListBody } from "../../api/runs.ts";

/**
 * The id that a person means: an id as it is, or a playbook's name for its newest run.
 *
 * @throws {CliError} 1 where no run of that playbook is known, 2 where several businesses have one
 */
export async function findRunId(gateway: GatewayClient, text: string): Promise<string> {
  if (text.includes("/")) return text;
  const { items } = await gateway.get("/v1/runs?limit=500", RunListBody);
  const [newest, ...others] = items.filter(
    ({ playbook, kind }) => playbook === text && kind !== "retry-failed-payment",
  );
  const other = others.find(({ business }) => business !== newest?.business);
  if (newest !== undefined && other !== undefined) {
    throw usageError(
      `several businesses have runs of “${text}”: ${newest.id}, ${other.id}`,
      "Name the run by its id.",
    );
  }
  if (newest !== undefined) return newest.id;
  throw new CliError(EXIT.failed, `“${text}” is neither a run's id nor a playbook that has run`, {
    code: "not_found",
    hint: "“payrun status” lists the runs.",
  });
}

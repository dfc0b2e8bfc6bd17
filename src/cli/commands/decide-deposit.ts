import { definedOnly } from "../../contracts/defined-only.ts";
import { formatUsd } from "../../domain/money.ts";
import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import type { Output } from "../terminal/output.ts";
import { noteNobodyWorks } from "../show/conditions.ts";
import { accountOf, topUpLines } from "../show/deposit.ts";
import { asked, canAsk } from "../terminal/confirm.ts";
import { green } from "../terminal/text.ts";
import { RunStatusBody } from "../../api/runs.ts";
import { DecisionBody } from "../../api/schemas.ts";

interface Options {
  readonly reason?: string | undefined;
  readonly yes?: true | undefined;
  readonly json?: true | undefined;
}

/** Approves or refuses the deposit that a run asks for: exactly the one that is shown. */
export async function decideTopUp(
  { output, gateway }: { readonly output: Output; readonly gateway: GatewayClient },
  decision: "approve" | "reject",
  id: string,
  options: Options,
): Promise<ExitCode> {
  const path = `/v1/runs/${encodeURIComponent(id)}`;
  const run = await gateway.get(`${path}?pageSize=1&skipped=false`, RunStatusBody);
  const topUp = run.topUps?.findLast(({ state }) => state === "proposed" || state === "sending");
  if (topUp === undefined || run.planHash === null) {
    throw new CliError(EXIT.failed, `${id} asks for no deposit to decide on`, {
      code: "no_top_up",
    });
  }
  if (options.yes === undefined && canAsk(output)) {
    output.lines(topUpLines([topUp]));
    const message = decision === "approve" ? "Approve this deposit?" : "Refuse this deposit?";
    if (!(await asked(message))) {
      output.note("Nothing was decided.");
      return EXIT.failed;
    }
  }
  const answer = await gateway.post(`${path}/decisions`, DecisionBody, {
    decision,
    planHash: run.planHash,
    topUpHash: topUp.hash,
    ...definedOnly({ comment: options.reason }),
  });
  const deposit = `the deposit of ${formatUsd(topUp.amountCents)} from ${accountOf(topUp)}`;
  const [missing] = answer.missing;
  const more =
    missing === undefined
      ? ""
      : `; still needed: ${missing.quorum - missing.approvals} more of ${missing.by.join(", ")}`;
  const done = decision === "approve" ? "approved" : "refused";
  output.line(`${green("✓")} ${done} ${deposit}${more}`);
  await noteNobodyWorks(gateway, output);
  output.document(answer);
  return EXIT.done;
}

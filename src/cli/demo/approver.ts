import { parseArgs } from "node:util";

import { CliError } from "../cli-error.ts";
import { GatewayClient } from "../gateway-client.ts";
import { decisionAnswer } from "../gateway-shapes.ts";
import { readIfThere } from "../private-file.ts";

// Another system that approves: a process of its own that knows nothing but the gateway's address
// and its own token. It reads the run, and approves the plan it has read.

const { values } = parseArgs({
  options: {
    gateway: { type: "string", default: "" },
    run: { type: "string", default: "" },
    "token-file": { type: "string", default: "" },
    drop: { type: "string", multiple: true, default: [] },
  },
});

try {
  const token = readIfThere(values["token-file"])?.trim();
  const gateway = new GatewayClient({ url: values.gateway, token });
  const run = await gateway.run(values.run);
  const answer = await gateway.post(
    `/v1/runs/${encodeURIComponent(values.run)}/decisions`,
    decisionAnswer,
    { decision: "approve", planHash: run.planHash ?? "", drop: values.drop },
  );
  process.stdout.write(`${JSON.stringify(answer)}\n`);
} catch (error) {
  if (!(error instanceof CliError)) throw error;
  process.stdout.write(`${JSON.stringify({ error: error.code, message: error.message })}\n`);
  process.exitCode = error.exitCode;
}

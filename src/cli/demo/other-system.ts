import { parseArgs } from "node:util";

import { CliError } from "../terminal/cli-error.ts";
import { GatewayClient } from "../client/gateway-client.ts";
import { readIfThere } from "../home/private-file.ts";
import { IncidentBody } from "../../api/incidents.ts";
import { HoldBody } from "../../api/holds.ts";
import { DecisionBody } from "../../api/schemas.ts";

// Another system that decides: a separate process that knows nothing but the gateway's address and
// its own token. It approves a run's plan as it has read it, releases holds, or decides about a
// funding account whose payments bounced, and prints the gateway's responses as one JSON array.

const { values } = parseArgs({
  options: {
    gateway: { type: "string", default: "" },
    "token-file": { type: "string", default: "" },
    approve: { type: "string", default: "" },
    drop: { type: "string", multiple: true, default: [] },
    release: { type: "string", multiple: true, default: [] },
    incident: { type: "string", default: "" },
  },
});

async function approve(gateway: GatewayClient, runId: string): Promise<unknown> {
  const run = await gateway.run(runId);
  const path = `/v1/runs/${encodeURIComponent(runId)}/decisions`;
  const body = { decision: "approve", planHash: run.planHash ?? "", drop: values.drop };
  return gateway.post(path, DecisionBody, body);
}

async function release(gateway: GatewayClient, holdId: string): Promise<unknown> {
  return gateway.delete(`/v1/holds/${encodeURIComponent(holdId)}`, HoldBody);
}

async function decideIncident(gateway: GatewayClient, source: string): Promise<unknown> {
  const path = `/v1/incidents/${encodeURIComponent(source)}/decision`;
  const body = { decision: "released", reason: "The bank shows the money." };
  return gateway.post(path, IncidentBody, body);
}

try {
  const token = readIfThere(values["token-file"])?.trim();
  const gateway = new GatewayClient({ url: values.gateway, token });
  const answers: unknown[] = [];
  if (values.approve !== "") answers.push(await approve(gateway, values.approve));
  for (const holdId of values.release) answers.push(await release(gateway, holdId));
  if (values.incident !== "") answers.push(await decideIncident(gateway, values.incident));
  process.stdout.write(`${JSON.stringify(answers)}\n`);
} catch (error) {
  if (!(error instanceof CliError)) throw error;
  process.stdout.write(`${JSON.stringify({ error: error.code, message: error.message })}\n`);
  process.exitCode = error.exitCode;
}

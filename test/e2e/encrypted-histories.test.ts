import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Payload } from "@temporalio/common";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { expect, test } from "vitest";
import { findTemporalCli } from "../../scripts/setup/temporal-cli.mjs";
import { encryptionKeys } from "../../src/config/encryption-keys.ts";
import { codecOf } from "../../src/temporal/codec.ts";
import type { TestPayrun } from "../support/payrun.ts";
import { plannedRun, stacks } from "../support/stack.ts";

const start = stacks();

test("Temporal keeps no readable bill, vendor, sum or reason of a real business, and the keys decrypt all", async () => {
  const payrun = await start({ sandbox: false });
  const { runId, made } = await plannedRun(payrun, [123_45, 678_90]);
  const reason = "planted reason of a hold";
  const held = { all: true, reason };
  expect((await payrun.call("operator", "POST", "/v1/holds", held)).status).toBeLessThan(300);
  const rejected = await payrun.decide("controller", runId, "reject");
  expect(rejected.status).toBe(200);
  await payrun.untilPhase(runId, "rejected");

  const planted = [reason, "controller", "123.45", "678.90", ...made.map(({ id }) => id)];
  const { kept, read } = await histories(payrun);
  expect(kept).toContain("binary/encrypted");
  for (const text of planted) expect(kept, text).not.toContain(text);
  for (const text of ["for approval", "json/plain"]) expect(read, text).toContain(text);
  const shown = await showWithCommandLine(payrun, runId);
  expect(shown).toContain("weekly");
  expect(shown).not.toContain(Buffer.from("binary/encrypted").toString("base64"));
});

/** Returns a history as Temporal's own command line shows it to a person with a token. */
async function showWithCommandLine(payrun: TestPayrun, workflowId: string): Promise<string> {
  const { path } = await findTemporalCli({ env: process.env, log: () => undefined });
  const { stdout } = await promisify(execFile)(path, [
    ...["workflow", "show", "--workflow-id", workflowId, "--output", "json"],
    ...["--address", payrun.temporalAddress, "--namespace", payrun.namespace],
    ...["--codec-endpoint", `${payrun.gatewayUrl}/codec`],
    ...["--codec-auth", `Bearer ${payrun.tokens.get("controller")}`],
  ]);
  return stdout;
}

/** Returns all histories as Temporal keeps them, payloads as text, and as the keys decrypt them. */
async function histories(payrun: TestPayrun): Promise<{ kept: string; read: string }> {
  const keys = encryptionKeys.parse(payrun.env()["PAYRUN_ENCRYPTION_KEYS"]);
  const codec = codecOf({ encryptionKeys: keys, encryptsHistories: () => true });
  const kept: string[] = [];
  const read: string[] = [];
  for await (const { workflowId, runId } of payrun.temporal.workflow.list()) {
    const history = await payrun.temporal.workflow.getHandle(workflowId, runId).fetchHistory();
    const payloads = payloadsIn(history);
    kept.push(historyToJSON(history).replaceAll(workflowId, ""), ...payloads.map(textOf));
    read.push(...(await codec.decode(payloads)).map(textOf));
  }
  return { kept: kept.join("\n"), read: read.join("\n") };
}

function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return [];
  const { metadata, data } = value as Payload;
  if (metadata?.["encoding"] instanceof Uint8Array && data instanceof Uint8Array) {
    return [value as Payload];
  }
  return Object.values(value).flatMap(payloadsIn);
}

function textOf({ metadata, data }: Payload): string {
  const parts = [...Object.values(metadata ?? {}), data ?? new Uint8Array()];
  return parts.map((part) => Buffer.from(part).toString("latin1")).join("\n");
}

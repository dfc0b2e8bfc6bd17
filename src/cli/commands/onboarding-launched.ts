import { setTimeout as sleep } from "node:timers/promises";

import type { OnboardingStatus } from "../../api/onboardings.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import type { Output } from "../terminal/output.ts";
import { onboardingLines } from "../show/onboarding.ts";
import { dim, green } from "../terminal/text.ts";
import { OnboardingStatusBody } from "../../api/onboardings.ts";

const POLL_MS = 500;

/**
 * Tells of an onboarding that was launched or joined.
 *
 * @param wait until it ends, or the time is up: 0 verified, 1 ended otherwise, 3 it still waits
 */
export async function onboardingLaunched(
  output: Output,
  gateway: GatewayClient,
  launched: OnboardingStatus,
  wait: { readonly limitMs: number } | null,
): Promise<ExitCode> {
  if (wait === null) {
    output.line(`${green("✓")} ${launched.id}`);
    output.line(
      dim(`payrun status ${launched.id} · payrun provide ${launched.business} tax --file FILE`),
    );
    output.document(launched);
    return EXIT.done;
  }
  const startedAtMs = Date.now();
  let status = launched;
  let shown = "";
  for (;;) {
    const line = `${status.phase} · ${status.waitingFor ?? ""}`;
    if (line !== shown) output.note(dim(line));
    shown = line;
    if (status.ended || Date.now() - startedAtMs >= wait.limitMs) break;
    await sleep(POLL_MS);
    const path = `/v1/runs/${encodeURIComponent(launched.id)}`;
    status = await gateway.get(path, OnboardingStatusBody);
  }
  output.lines(onboardingLines(status));
  output.document(status);
  if (!status.ended) return EXIT.waiting;
  return status.phase === "verified" ? EXIT.done : EXIT.failed;
}

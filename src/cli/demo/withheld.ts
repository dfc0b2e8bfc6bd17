import {
  type CancellationPaymentStatus,
  type CancellationStatus,
} from "../../api/cancellations.ts";
import { cancelScheduledPaymentsId, holdBackRequest } from "../../contracts/workflow-kinds.ts";
import type { RunPaymentStatus, RunStatus } from "../../api/runs.ts";
import { spokenDay, spokenTime } from "../../domain/clock/spoken.ts";
import { formatUsd, sumCents } from "../../domain/money.ts";
import { CliError, EXIT } from "../terminal/cli-error.ts";
import type { BankEntry } from "../client/sandbox-control.ts";
import { bold, dim, green, red } from "../terminal/text.ts";
import { counted } from "../../domain/counted.ts";
import { asAnotherSystem, OVER_HTTP, gatewayRefusalText } from "./another-system.ts";
import { type Demo, runIdOf } from "./context.ts";
import { CancellationStatusBody } from "../../api/cancellations.ts";
import { HoldBody } from "../../api/holds.ts";
import { dateIn } from "../../domain/clock/dates.ts";

/** The stored playbook that holds the run's flagged bills back. */
const HOLD_PLAYBOOK = "hold-flagged-bills";

interface Withheld {
  readonly line: RunPaymentStatus;
  readonly holdId: string;
  readonly releaseBy: string | null;
}

/**
 * Shows the bills that are approved but not sent, and lets another system release them. Prints
 * nothing if there are none.
 */
export async function letOthersRelease(demo: Demo): Promise<void> {
  const { narrator, gateway } = demo;
  const run = await gateway.run(runIdOf(demo));
  const bills = withheldOf(run, await holdingBack(demo, run));
  const [first] = bills;
  if (first === undefined) return;
  const lines = bills.map(({ line }) => line);
  narrator.heading("Held back");
  narrator.line(
    dim(
      `playbooks/${HOLD_PLAYBOOK}.yaml holds flagged bills back until a controller or owner releases them.`,
    ),
  );
  narrator.line(
    `${bold(counted(bills.length, "bill"))}, ${centsOf(lines)}: approved, on hold, not sent.${releaseByText(bills)}`,
  );
  await adminIsRefused(demo, first.holdId);
  const released = new Set([
    ...(demo.state.released ?? []),
    ...lines.map((line) => line.payableId),
  ]);
  demo.remember({ released: [...released] });
  const holds = bills.flatMap(({ holdId }) => ["--release", holdId]);
  const { refusal } = await asAnotherSystem(demo, "owner", holds);
  if (refusal !== undefined) {
    throw new CliError(EXIT.failed, `the owner's release was refused: ${refusal.message}`);
  }
  narrator.line(
    `${green("✓")} released: ${counted(bills.length, "bill")}  ${dim(`owner, ${OVER_HTTP}`)}`,
  );
}

/** Reports the days on which the released bills run, once the service has them. */
export function reportReleaseDates({ narrator, state }: Demo, run: RunStatus): void {
  const lines = releasedOf(run, state.released);
  const dates = [...new Set(lines.map(({ executionDate }) => executionDate))];
  const [date] = dates;
  if (date === undefined || date === null) return;
  const on = dates.length === 1 ? `on ${dayOf(date)}` : "on their dates";
  const inTime = lines.every(isInTime) ? ", in time for their due dates" : "";
  narrator.line(`Among them the ${counted(lines.length, "released bill")}, to run ${on}${inTime}.`);
}

/** Reports when the money of the released bills arrived, according to the bank's ledger. */
export function reportReleased(
  { narrator, state }: Demo,
  run: RunStatus,
  ledger: readonly BankEntry[],
): void {
  const lines = releasedOf(run, state.released).filter((line) => line.state === "settled");
  if (lines.length === 0) return;
  const isLate = lines.some(({ payableId, paymentIds, dueDate }) =>
    ledger.some(
      (move) =>
        move.payableId === payableId &&
        move.kind === "credit" &&
        paymentIds.includes(move.paymentId ?? "") &&
        dueDate !== null &&
        dateIn(move.at) > dueDate,
    ),
  );
  const when = isLate ? "" : ", by their due dates";
  narrator.line(
    `${green("✓")} ${counted(lines.length, "bill")}, held back until the owner released them: paid${when}`,
  );
}

async function holdingBack(
  { gateway }: Demo,
  run: RunStatus,
): Promise<CancellationStatus | undefined> {
  const id = cancelScheduledPaymentsId(run.business, holdBackRequest(HOLD_PLAYBOOK, run.id));
  try {
    return await gateway.get(`/v1/runs/${encodeURIComponent(id)}`, CancellationStatusBody);
  } catch (error) {
    if (error instanceof CliError && error.code === "not_found") return undefined;
    throw error;
  }
}

/** Returns the bills that only the playbook keeps from being sent. */
function withheldOf(run: RunStatus, now: CancellationStatus | undefined): Withheld[] {
  const held = new Map<string | null, CancellationPaymentStatus>();
  for (const item of now?.payments ?? []) {
    if (item.state === "withheld") held.set(item.payableId, item);
  }
  return run.payments.flatMap((line) => {
    const item = held.get(line.payableId);
    if (item === undefined || item.holdId === null || line.state !== "on-hold") return [];
    return [{ line, holdId: item.holdId, releaseBy: item.releaseBy }];
  });
}

/** An administrator runs everything here, but the playbook doesn't let administrators release. */
async function adminIsRefused({ narrator, gateway }: Demo, holdId: string): Promise<void> {
  try {
    await gateway.delete(`/v1/holds/${encodeURIComponent(holdId)}`, HoldBody);
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.failed) throw error;
    narrator.text(`${red("✗")} administrator releases: ${gatewayRefusalText(error)}`);
    return;
  }
  throw new CliError(EXIT.failed, "an administrator's release was taken: it must not be");
}

function releaseByText(bills: readonly Withheld[]): string {
  const [first] = bills.flatMap(({ releaseBy }) => releaseBy ?? []).toSorted();
  return first === undefined ? "" : ` Release by ${spokenTime(first)}.`;
}

function releasedOf(run: RunStatus, released: readonly string[] = []): RunPaymentStatus[] {
  return run.payments.filter(
    ({ payableId, paymentIds }) => released.includes(payableId) && paymentIds.length > 0,
  );
}

function isInTime({ arrivalDate, dueDate }: RunPaymentStatus): boolean {
  return arrivalDate !== null && dueDate !== null && arrivalDate <= dueDate;
}

function dayOf(date: string): string {
  return spokenDay(`${date}T17:00:00Z`);
}

function centsOf(lines: readonly RunPaymentStatus[]): string {
  return formatUsd(sumCents(lines.map(({ amountCents }) => amountCents)));
}

import { definedOnly } from "../../contracts/defined-only.ts";
import { CANCELLATION_KINDS, type CancellationState } from "../../contracts/cancellation.ts";
import { isOfKind } from "../../contracts/workflow-kinds.ts";
import { type CancellationStatus } from "../../api/cancellations.ts";
import { sharedReason } from "../../domain/cancellations/progress.ts";
import { spokenTime } from "../../domain/clock/spoken.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { formatUsd } from "../../domain/money.ts";
import { EXIT, type ExitCode } from "../terminal/cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import type { Output } from "../terminal/output.ts";
import { startedByLines, waitsForLines } from "./run.ts";
import { bold, dim, green, printable, red, textTable, yellow } from "../terminal/text.ts";
import { nameOf } from "./plan.ts";
import { pollUntil } from "./wait-for-run.ts";
import { CancellationStatusBody } from "../../api/cancellations.ts";

/** Shows a requested cancellation, at once or, with `wait`, at its end. */
export async function launchedCancellation(
  { output, gateway }: { readonly output: Output; readonly gateway: GatewayClient },
  asked: CancellationStatus,
  { wait, limitMs }: { readonly wait: boolean; readonly limitMs: number },
): Promise<ExitCode> {
  const changed = (line: string): void => output.note(dim(line));
  const now = wait ? await pollCancellation(gateway, asked.id, { limitMs, changed }) : asked;
  output.lines([...cancellationLines(now), ...onHoldLines(now)]);
  if (!wait) output.line(dim(`payrun status ${asked.id}`));
  output.document(now);
  return wait ? cancellationExitCode(now) : EXIT.done;
}

/** True for the id of a cancellation, whose status has another shape than a run's. */
export function isCancellationId(id: string): boolean {
  return isOfKind(id, "cancelScheduledPayments");
}

/** True if a status is a cancellation's, of bills or of payments. */
export function isCancellation<Status extends { readonly kind: string }>(
  status: Status,
): status is Status & CancellationStatus {
  return CANCELLATION_KINDS.some((kind) => kind === status.kind);
}

const GOOD: readonly CancellationState[] = ["cancelled", "refunded", "released"];
const WAITING: readonly CancellationState[] = ["withheld", "refund_pending"];

/** Describes for a person where a cancellation stands. */
export function cancellationLines(now: CancellationStatus): string[] {
  const rows = now.payments.map((each) => [
    nameOf({ ...each, payableId: each.payableId ?? each.paymentId ?? "" }),
    formatUsd(each.amountCents),
    coloured(each.state),
    printable(each.reason ?? (each.state === "withheld" ? withheldText(each, now.zone) : "")),
    dim(each.paymentId ?? each.payableId ?? ""),
  ]);
  return [
    `${bold(now.id)}  ${now.phase}`,
    dim(`${printable(now.reason)} · asked for by ${printable(now.launchedBy)}`),
    ...startedByLines(now.startedBy),
    ...waitsForLines(now.waitingFor),
    ...(rows.length === 0 && hasEnded(now)
      ? ["It took nothing back: the service has nothing scheduled or held of what it names."]
      : []),
    ...(rows.length === 0 ? [] : ["", ...textTable([{}, { align: "right" }, {}, {}, {}], rows)]),
  ];
}

/** Returns what a cancel at a person's request leaves on hold, and the command that ends it. */
export function onHoldLines({
  kind,
  payments,
  launchedBy,
}: Pick<CancellationStatus, "kind" | "launchedBy"> & {
  readonly payments: readonly Pick<
    CancellationStatus["payments"][number],
    "payableId" | "holdId" | "state"
  >[];
}): string[] {
  if (kind !== "cancel-scheduled") return [];
  const kept = payments.filter(({ holdId, state }) => holdId !== null && state !== "released");
  const [first] = kept;
  if (first === undefined) return [];
  const isOne = kept.every(({ payableId }) => payableId === first.payableId);
  return isOne
    ? [`Its bill stays on hold until payrun release ${first.holdId ?? ""}`]
    : [`Their bills stay on hold until payrun release --all --by ${shellWord(launchedBy)}`];
}

function withheldText(
  { holdId, releaseBy }: CancellationStatus["payments"][number],
  zone: string,
): string {
  const by = releaseBy === null ? "" : ` by ${spokenTime(releaseBy, zone)}`;
  return `payrun release ${holdId ?? ""}${by}`;
}

function coloured(state: CancellationState): string {
  if (GOOD.includes(state)) return green(state);
  return WAITING.includes(state) ? yellow(state) : red(state);
}

function hasEnded({ endedAt }: Pick<CancellationStatus, "endedAt">): boolean {
  return endedAt !== null;
}

/** Follows a cancellation until it ends or the time is up; calls `changed` with each new line. */
export function pollCancellation(
  gateway: GatewayClient,
  id: string,
  options: {
    readonly changed: (line: string, now: CancellationStatus, notes: readonly string[]) => void;
    /** As for `pollUntil`. */
    readonly notes?: () => Promise<readonly string[]>;
    readonly limitMs?: number;
  },
): Promise<CancellationStatus> {
  return pollUntil(
    () => gateway.get(`/v1/runs/${encodeURIComponent(id)}`, CancellationStatusBody),
    {
      until: hasEnded,
      changed: (now, notes) => options.changed(progressOf(now), now, notes),
      ...definedOnly({ notes: options.notes, limitMs: options.limitMs }),
    },
  );
}

/**
 * Returns one line of progress. Payments without a result show as unknown only at the end. If one
 * reason holds for all of them, the line includes it: a person may have little time left.
 */
export function progressOf(
  now: Pick<CancellationStatus, "phase" | "counts" | "endedAt"> & {
    readonly payments: readonly Pick<CancellationStatus["payments"][number], "state" | "reason">[];
  },
): string {
  const isOpen = !hasEnded(now);
  const counts = Object.entries(now.counts).map(
    ([state, number]) => `${number} ${isOpen && state === "unknown" ? "to go" : state}`,
  );
  const toGo = isOpen ? now.payments.filter(({ state }) => state === "unknown") : [];
  const why = sharedReason(toGo);
  return [now.phase, ...counts, ...(why === null ? [] : [printable(why)])].join(" · ");
}

/** Returns the exit code of `--wait`: 0 completed, 1 with exceptions, 3 it still waits. */
export function cancellationExitCode(now: CancellationStatus): ExitCode {
  if (!hasEnded(now)) return EXIT.waiting;
  return now.phase === "completed" ? EXIT.done : EXIT.failed;
}

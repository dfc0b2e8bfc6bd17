import { fundingIncidentId, retryFailedPaymentId } from "../../contracts/workflow-kinds.ts";
import type { RunPaymentStatus, RunStatus } from "../../api/runs.ts";
import { formatUsd } from "../../domain/money.ts";
import { CliError, EXIT } from "../terminal/cli-error.ts";
import type { BankEntry } from "../client/sandbox-control.ts";
import { dim, green, printable, yellow } from "../terminal/text.ts";
import { counted } from "../../domain/counted.ts";
import { asAnotherSystem, OVER_HTTP } from "./another-system.ts";
import type { Demo } from "./context.ts";
import { type IncidentView, IncidentListBody } from "../../api/incidents.ts";
import { NoticeListBody } from "../../api/notices.ts";

/** The longest wait for the day's other payments to be known as bounced too. */
const GATHER_LIMIT_MS = 15_000;

/** Funding accounts whose payments bounced: one decision each, for all its bills. */
export class Incidents {
  readonly #demo: Demo;
  readonly #sinceMs = new Map<string, number>();

  constructor(demo: Demo) {
    this.#demo = demo;
  }

  /** Lets another system decide about an account once all bounced bills wait for the decision. */
  async decide(run: RunStatus): Promise<void> {
    if (!run.payments.some(({ state }) => state === "retrying")) return;
    const { items } = await this.#demo.gateway.get("/v1/incidents", IncidentListBody);
    for (const incident of items) {
      if (incident.phase !== "open") continue;
      const bounced = await this.#bounced(run, incident);
      const sinceMs = this.#sinceMs.get(incident.source) ?? Date.now();
      this.#sinceMs.set(incident.source, sinceMs);
      const isWhole = bounced.length > 0 && incident.bills >= bounced.length;
      if (isWhole || Date.now() - sinceMs > GATHER_LIMIT_MS) {
        await this.#decideNow(run, incident, bounced);
      }
    }
  }

  /**
   * Returns the bills whose last payment failed at the service for the incident's reason, so that
   * none is on its way.
   */
  async #bounced({ payments }: RunStatus, { code }: IncidentView): Promise<RunPaymentStatus[]> {
    const { service, state } = this.#demo;
    const failed = await service.payments.listAll({ status: "failed" });
    const ids = new Set(
      failed
        .filter(({ id, failureReason }) => {
          const isOurs = state.paymentsBefore?.includes(id) !== true;
          return isOurs && failureReason?.startsWith(code) === true;
        })
        .map(({ id }) => id),
    );
    return payments.filter(({ paymentIds }) => {
      const last = paymentIds.at(-1);
      return last !== undefined && ids.has(last);
    });
  }

  async #decideNow(
    { business }: RunStatus,
    incident: IncidentView,
    bounced: readonly RunPaymentStatus[],
  ): Promise<void> {
    const { narrator, gateway } = this.#demo;
    const { source, reason, bills, billsCents } = incident;
    const { items } = await gateway.get("/v1/notices?kind=incident", NoticeListBody);
    const vendors = bounced.map(({ contactName }) => printable(contactName ?? "")).join(", ");
    narrator.text(
      `${yellow("↻")} ${counted(bills, "payment")} bounced, ${formatUsd(billsCents)}, the first with: ${printable(reason)}. Our own account was empty, so it is one incident.`,
    );
    narrator.text(`  ${vendors}`);
    narrator.line(
      dim(
        `  ${fundingIncidentId(business, source)}: no run pays from it, ${counted(items.length, "notice")}, one decision`,
      ),
    );
    const [first] = bounced;
    if (first !== undefined) {
      const others = bounced.length === 1 ? "" : `, and ${bounced.length - 1} like it`;
      const id = retryFailedPaymentId(business, first.payableId);
      narrator.line(dim(`  waiting for it: ${id}${others}`));
    }
    this.#demo.remember({ bounced: { source, payableIds: bounced.map((line) => line.payableId) } });
    const { refusal } = await asAnotherSystem(this.#demo, "controller", ["--incident", source]);
    if (refusal !== undefined && refusal.code !== "already_decided") {
      throw new CliError(EXIT.failed, `the controller's decision was refused: ${refusal.message}`);
    }
    narrator.line(
      `${green("✓")} decided once: ${source} is released  ${dim(`controller, ${OVER_HTTP}`)}`,
    );
  }
}

/** Reports the result of the incident: the same few movements at the bank for each of its bills. */
export async function reportBounced(
  { narrator, gateway, state }: Demo,
  run: RunStatus,
  ledger: readonly BankEntry[],
): Promise<void> {
  const { bounced } = state;
  if (bounced === undefined) return;
  const lines = run.payments.filter(({ payableId }) => bounced.payableIds.includes(payableId));
  const settled = lines.filter((line) => line.state === "settled");
  if (settled.length === 0) return;
  const movesOf = ({ payableId, paymentIds }: RunPaymentStatus): string =>
    ledger
      .filter((move) => move.payableId === payableId && paymentIds.includes(move.paymentId ?? ""))
      .map(({ kind }) => kind)
      .join(", ");
  const { items } = await gateway.get("/v1/notices?kind=incident", NoticeListBody);
  const moves = [...new Set(settled.map(movesOf))].join("; or ");
  narrator.text(
    `${green("✓")} ${counted(settled.length, "bill")} that bounced: ${counted(items.length, "notice")}, one decision, one retry each; the bank's moves: ${moves}`,
  );
}

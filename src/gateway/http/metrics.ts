import { countWaitsByCode } from "../../store/runs/waits.ts";
import { countRunsByPhase } from "../../store/runs/runs.ts";
import { countUndispatched } from "../../store/events/inbox.ts";
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { Condition } from "../../api/conditions.ts";
import type { Store } from "../../store/index.ts";
import { knownWorkers } from "../../store/sql/worker-leases.ts";
import { LineCounts } from "../../reports/line-counts.ts";
import { countUndelivered } from "../../store/notices/notice-deliveries.ts";

/** The gateway's metrics; `GET /metrics` prints them for Prometheus. */
export interface Metrics {
  readonly registry: Registry;
  readonly requests: Histogram<"method" | "route" | "status">;
  readonly webhooks: Counter<"result">;
  readonly signals: Counter<"result">;
  readonly recoveredEvents: Counter<"business">;
  readonly decisions: Counter<"outcome">;
  readonly refused: Counter<"why">;
}

/**
 * @param store read at each scrape: runs by phase, lines by state, the inbox
 * @param conditions returns what needs attention at that moment
 */
export function createMetrics(
  store: Store,
  conditions: () => Promise<readonly Condition[]>,
): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  storeGauges(store, registry);
  noticeGauge(store, registry);
  conditionGauges(store, conditions, registry);
  return {
    registry,
    requests: new Histogram({
      name: "payrun_gateway_request_seconds",
      help: "Time to answer an HTTP request",
      labelNames: ["method", "route", "status"],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
      registers,
    }),
    webhooks: new Counter({
      name: "payrun_webhooks_total",
      help: "Webhook deliveries by outcome",
      labelNames: ["result"],
      registers,
    }),
    signals: new Counter({
      name: "payrun_dispatched_signals_total",
      help: "Signals from the inbox to workflows",
      labelNames: ["result"],
      registers,
    }),
    recoveredEvents: new Counter({
      name: "payrun_recovered_events_total",
      help: "Events that no webhook brought and the list of deliveries had",
      labelNames: ["business"],
      registers,
    }),
    decisions: new Counter({
      name: "payrun_decisions_total",
      help: "Approvals and rejections by outcome",
      labelNames: ["outcome"],
      registers,
    }),
    refused: new Counter({
      name: "payrun_refused_requests_total",
      help: "Requests refused for want of a valid token or of a role, by reason",
      labelNames: ["why"],
      registers,
    }),
  };
}

function storeGauges(store: Store, registry: Registry): void {
  const registers = [registry];
  const lines = new LineCounts(store);
  new Gauge({
    name: "payrun_inbox_undispatched",
    help: "Events that no workflow has been signaled about yet",
    registers,
    async collect() {
      this.set(await countUndispatched(store.db));
    },
  });
  new Gauge({
    name: "payrun_runs",
    help: "Pay runs by business and phase",
    labelNames: ["business", "phase"],
    registers,
    async collect() {
      const counts = await countRunsByPhase(store.db);
      this.reset();
      for (const { business, phase, count } of counts) this.set({ business, phase }, count);
    },
  });
  new Gauge({
    name: "payrun_lines",
    help: "Lines of pay runs by state; lines of ended runs that can hardly change are counted now and then",
    labelNames: ["state"],
    registers,
    async collect() {
      const sums = await lines.read();
      this.reset();
      for (const [state, count] of sums) this.set({ state }, count);
    },
  });
  new Gauge({
    name: "payrun_business_waits",
    help: "Faults of a whole business or funding source that runs wait for",
    labelNames: ["code"],
    registers,
    async collect() {
      const counts = await countWaitsByCode(store.db);
      this.reset();
      for (const { code, count } of counts) this.set({ code }, count);
    },
  });
}

function noticeGauge(store: Store, registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: "payrun_notices_undelivered",
    help: "Notices that have not reached everyone: given up, tried again, or without an address",
    labelNames: ["why"],
    registers,
    async collect() {
      for (const [why, count] of Object.entries(await countUndelivered(store.db))) {
        this.set({ why }, count);
      }
    },
  });
}

function conditionGauges(
  store: Store,
  conditions: () => Promise<readonly Condition[]>,
  registry: Registry,
): void {
  const registers = [registry];
  new Gauge({
    name: "payrun_conditions",
    help: "Conditions that need attention, as payrun status shows them: by code, severity and business",
    labelNames: ["code", "severity", "business"],
    registers,
    async collect() {
      const found = await conditions();
      this.reset();
      for (const { code, severity, business } of found) {
        this.inc({ code, severity, business: business ?? "" });
      }
    },
  });
  new Gauge({
    name: "payrun_workers",
    help: "Workers that were heard from within the hour: working, or silent (frozen, or gone)",
    labelNames: ["state"],
    registers,
    async collect() {
      const workers = await knownWorkers(store.db);
      const silent = workers.filter(({ silentMs }) => silentMs > 0).length;
      this.set({ state: "silent" }, silent);
      this.set({ state: "working" }, workers.length - silent);
    },
  });
}

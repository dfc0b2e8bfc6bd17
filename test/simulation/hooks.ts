import { sql } from "kysely";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { ActivityContext } from "../../activities/shared/context.ts";
import { createActivities } from "../../activities/index.ts";
import { loadConfig } from "../../src/config.ts";
import { Profiles } from "../../src/config/profiles.ts";
import type { BusinessProfile } from "../../src/config/business-profile.ts";
import { createBusinessClocks } from "../../src/actions/clocks.ts";
import type { GatewayContext } from "../../src/gateway/http/context.ts";
import { startDeliveryRecovery } from "../../src/events/deliveries.ts";
import { startDispatcher } from "../../src/events/dispatcher.ts";
import { createApp } from "../../src/gateway/app.ts";
import { Rates, UnprovenBodies } from "../../src/gateway/http/limits.ts";
import { Proxies } from "../../src/gateway/http/proxies.ts";
import { RefusedToday } from "../../src/actions/refused-today.ts";
import { TokenUses } from "../../src/gateway/http/token-uses.ts";
import { StoreProbe } from "../../src/gateway/store-probe.ts";
import { InboxWriter } from "../../src/events/inbox-writer.ts";
import { createMetrics, type Metrics } from "../../src/gateway/http/metrics.ts";
import { Clients } from "../../src/business/clients.ts";
import { STORE_TRAIL } from "../../src/store/audit/audit.ts";
import { differencesOf } from "../../src/store/audit/audit-compare.ts";
import { auditedBusinesses, verifyTrail } from "../../src/store/audit/audit-trail.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../../src/store/open.ts";
import { confirmedToken } from "../support/confirmed-token.ts";
import { FileConnection } from "../../src/store/sqlite/connection.ts";
import { Mailer } from "../../src/notices/mail.ts";
import { startLateChanges } from "../../src/janitor/late-changes.ts";
import { startJanitor } from "../../src/janitor/janitor.ts";
import { codecOf } from "../../src/temporal/codec.ts";
import { Keyring } from "../../src/vault/keyring.ts";
import { Vault } from "../../src/vault/vault.ts";
import { createContext } from "../../src/worker/context.ts";
import { storePlaybook } from "../support/stored-playbook.ts";
import { LET_THROUGH } from "./boundaries.ts";
import { clientOf } from "./temporal/client.ts";
import type { TemporalServer } from "./temporal/server.ts";
import type { Activities } from "./temporal/activity-task.ts";
import { wakeIdleLoops } from "./world/globals.ts";
import { inBackground, nodeHere, type ProcessNode, type World } from "./world/world.ts";

/**
 * The only file that knows the engine's modules: how its processes are put together, and where
 * their statements are parked.
 */

export * as workflowCode from "../../workflows/index.ts";

/** The connection's own methods before they are replaced. */
const real: Pick<FileConnection, "begin" | "run" | "commit" | "rollback"> = Object.fromEntries(
  (["begin", "run", "commit", "rollback"] as const).map((name) => [
    name,
    FileConnection.prototype[name],
  ]),
) as unknown as Pick<FileConnection, "begin" | "run" | "commit" | "rollback">;

/** Writes for which the dispatcher looks twice a second. */
const OF_EVENTS = /^(insert into|update) "(inbox|event_starts|pendingSignals)"/;
/** Connections whose transaction has written such a row. */
const withEvents = new WeakSet<FileConnection>();

const OF_SENDS = /^insert into "sends"/;
/** Connections whose transaction has written a send. */
const withSends = new WeakSet<FileConnection>();

const opened = new WeakMap<ProcessNode, Set<FileConnection>>();

/** Closes a dead process's connections at once, as the kernel would. */
function own(connection: FileConnection): void {
  const node = nodeHere();
  if (node === undefined) return;
  const known = opened.get(node) ?? new Set();
  opened.set(node, known);
  if (known.has(connection)) return;
  known.add(connection);
  node.atDeath.push(() => {
    void real.rollback.call(connection).catch(() => undefined);
    void connection.close().catch(() => undefined);
  });
}

/** A commit of a process. */
export interface Commit {
  /** True if it survives a power cut. */
  readonly isFlushed: boolean;
  /** True if it holds sends that the gate has just let through. */
  readonly hasSends: boolean;
}

/**
 * Parks each statement of a simulated process, but none within a transaction.
 *
 * @param committed called after each commit
 */
export function hookStore(
  world: () => World | undefined,
  committed: (commit: Commit) => void,
): void {
  const unflushed = new WeakSet<FileConnection>();
  const park = async (connection: FileConnection, what: string): Promise<void> => {
    if (nodeHere() === undefined) return;
    own(connection);
    await world()?.boundary(what);
  };
  Object.assign(FileConnection.prototype, {
    async begin(this: FileConnection, flush: boolean) {
      await park(this, "begin");
      if (flush) unflushed.delete(this);
      else unflushed.add(this);
      return real.begin.call(this, flush);
    },
    async run(this: FileConnection, ...given: Parameters<typeof real.run>) {
      const isOfEvents = OF_EVENTS.test(given[0]);
      if (this.inTransaction) {
        if (isOfEvents) withEvents.add(this);
        if (OF_SENDS.test(given[0])) withSends.add(this);
        return real.run.apply(this, given);
      }
      await park(this, "statement");
      const outcome = await real.run.apply(this, given);
      if (!given[0].startsWith("select")) committed({ isFlushed: true, hasSends: false });
      if ((outcome.written?.changes ?? 0n) > 0n) wakeIdleLoops(isOfEvents);
      return outcome;
    },
    async commit(this: FileConnection) {
      await park(this, "commit");
      await real.commit.call(this);
      const hasSends = withSends.delete(this);
      committed({ isFlushed: !unflushed.has(this), hasSends });
      wakeIdleLoops(withEvents.delete(this));
      // A process may stop between a commit and its next step.
      await park(this, hasSends ? LET_THROUGH : "committed");
    },
    async rollback(this: FileConnection) {
      await park(this, "rollback");
      return real.rollback.call(this);
    },
  });
}

/** Creates the store's file as it is before anything has happened. */
export async function makeEmptyStore(path: string): Promise<void> {
  const store = await openStore(`sqlite:${path}`);
  await store.close();
}

/**
 * Returns the problems of the store's audit trail, as `payrun audit` finds them.
 *
 * @param heads hashes that were seen as a trail's end, each with who has seen it
 */
export async function trailProblems(
  path: string,
  heads: ReadonlyMap<string, string>,
): Promise<string[]> {
  const store = await openStore(`sqlite:${path}`, { mustExist: true });
  const problems: string[] = [];
  for (const businessId of await auditedBusinesses(store.db)) {
    const known = businessId === STORE_TRAIL ? undefined : heads;
    const trail = await verifyTrail(store.db, businessId, known);
    const differences = await differencesOf(store.db, { businessId, business: null });
    problems.push(...[...trail.problems, ...differences].map(({ text }) => text));
  }
  await store.close();
  return problems;
}

/** Opens the store without waiting for locks: blocking the only thread could not free one. */
async function open(world: World, path: string): Promise<Store> {
  const store = await openStore(`sqlite:${path}`, { mustExist: true, nowMs: () => world.nowMs });
  await sql`pragma busy_timeout = 0`.execute(store.db);
  await sql`pragma wal_autocheckpoint = 0`.execute(store.db);
  return store;
}

export interface EngineParts {
  readonly world: World;
  readonly temporal: TemporalServer;
  readonly storePath: string;
  readonly profile: BusinessProfile;
  /** How often the safety net compares the store with Temporal. */
  readonly janitorEveryMs: number;
  /** True if a gateway finds lost events in the service's list of deliveries. */
  readonly listsDeliveries: boolean;
  /** Called with every line of the engine's own log. */
  readonly log: (node: ProcessNode, line: string) => void;
}

function logOf(parts: EngineParts, node: ProcessNode) {
  const line = (message: string, fields?: Record<string, unknown>): void =>
    parts.log(node, fields === undefined ? message : `${message} ${JSON.stringify(fields)}`);
  return { info: line, warn: line, error: line };
}

/** Starts a worker: its activities, its janitor and its watch for late changes. */
export async function startWorker(parts: EngineParts, node: ProcessNode): Promise<Store> {
  const { world, temporal, profile } = parts;
  const store = await open(world, parts.storePath);
  const profiles = new Profiles({ businesses: [profile] });
  const draining = new AbortController();
  const context = createContext({
    store,
    temporal: clientOf(temporal, world.stream(`temporal of ${node.id}`)),
    profiles,
    vault: new Vault(new Keyring([])),
    log: logOf(parts, node),
    workerId: node.id,
    draining: draining.signal,
    countDecision: () => {},
  });
  const activities: ActivityContext = context.activities;
  const janitorContext = { ...activities, profiles };
  const { janitorEveryMs } = parts;
  await inBackground(() => startJanitor(janitorContext, { everyMs: janitorEveryMs }));
  inBackground(() => startLateChanges(janitorContext, janitorEveryMs));
  // A worker polls only after it has looked for losses.
  temporal.addWorker(node, createActivities(activities) as unknown as Activities);
  return store;
}

let metrics: Metrics | undefined;

/** Starts a gateway: its API, which people and webhooks use, and its dispatcher. */
export async function startGateway(parts: EngineParts, node: ProcessNode): Promise<Gateway> {
  const { world, temporal, profile } = parts;
  const store = await open(world, parts.storePath);
  const profiles = new Profiles({ businesses: [profile] });
  const clients = new Clients({ connections: 20, timeoutMs: 10_000 });
  metrics ??= createMetrics(store, () => Promise.resolve([]));
  let wake = (): void => undefined;
  const context: GatewayContext = {
    store,
    profiles,
    temporal: clientOf(temporal, world.stream(`temporal of ${node.id}`)),
    clientOf: (of) => clients.of(of),
    log: logOf(parts, node),
    vault: new Vault(new Keyring([])),
    codec: codecOf({ encryptionKeys: [], encryptsHistories: () => false }),
    keyIds: [],
    temporalUiOrigins: [],
    nowMs: Date.now,
    clocks: createBusinessClocks(),
    metrics,
    refused: new RefusedToday(),
    inbox: new InboxWriter(store),
    storeProbe: new StoreProbe(store),
    temporalSilence: { sinceMs: undefined },
    rates: new Rates(loadConfig({}).gateway.limits),
    proxies: new Proxies([]),
    unproven: new UnprovenBodies(),
    uses: new TokenUses({ store, profiles, log: logOf(parts, node), nowMs: Date.now }),
    mailer: new Mailer(),
    sandboxesOnly: () => profile.sandbox,
    publicUrl: () => "https://payrun.test",
    planTimeoutMs: 60_000,
    wakeDispatcher: () => wake(),
  };
  const dispatcher = inBackground(() => startDispatcher(context));
  wake = () => dispatcher.wake();
  if (parts.listsDeliveries) inBackground(() => startDeliveryRecovery(context));
  return { app: createApp(context), store };
}

export interface Gateway {
  readonly app: OpenAPIHono;
  readonly store: Store;
}

/**
 * Creates people's tokens and stores the playbooks before anything runs, as an administrator does.
 */
export async function prepare(
  store: Store,
  people: readonly { readonly name: string; readonly roles: readonly string[] }[],
  playbooks: readonly { readonly name: string; readonly text: string }[],
): Promise<Map<string, string>> {
  const tokens = new Map<string, string>();
  for (const { name, roles } of people) {
    const made = await confirmedToken(store, { name, roles, createdBy: "ada", nowMs: Date.now() });
    tokens.set(name, made.token);
  }
  for (const playbook of playbooks) await storePlaybook(store, playbook, Date.now(), "biz_1");
  return tokens;
}

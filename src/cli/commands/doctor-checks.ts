import type { BusinessProfile, Config } from "../../config.ts";
import { Clients } from "../../business/clients.ts";
import { isPostgres, openStore, StoreError } from "../../store/index.ts";
import { crossesInTheClear, isPlainDatabase, isPlainTemporal } from "../../config/plaintext.ts";
import { tokenProblem } from "../../domain/approvals/token.ts";
import { listTokens, type Token } from "../../store/approvals/tokens.ts";
import { databaseNowMs } from "../../store/sql/database-clock.ts";
import { countUndelivered } from "../../store/notices/notice-deliveries.ts";
import { reasonOf } from "../terminal/cli-error.ts";
import { type ServedQueue, unservedQueues } from "../../temporal/unserved-queues.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import { httpJson } from "../client/http.ts";
import { readRunning } from "../home/running-file.ts";

export interface Check {
  readonly name: string;
  readonly state: "ok" | "warning" | "failed";
  readonly text: string;
  /** What to do about it. */
  readonly remedy?: string;
}

const TIMEOUT_MS = 5_000;

/** Clocks that differ by more are told of: approvals and dates would be judged by the wrong time. */
const SKEW_MS = 10_000;

/** Looks at everything that Payrun needs, all of it even where something is missing. */
export async function checkEverything(config: Config): Promise<readonly Check[]> {
  const businesses = config.profiles.all();
  const aheadMs = new Map<string, number>();
  const clients = new Clients({
    connections: 2,
    timeoutMs: TIMEOUT_MS,
    onDate: (business, dateMs) => aheadMs.set(business, dateMs - Date.now()),
  });
  try {
    const checks = await Promise.all([
      nodeCheck(),
      storeCheck(config),
      administratorsCheck(config),
      temporalChecks(config),
      gatewayCheck(config),
      noticesCheck(config),
      ...(businesses.length === 0
        ? [noBusiness(config)]
        : businesses.map((business) => businessCheck(clients, business, aheadMs))),
    ]);
    return checks.flat();
  } finally {
    await clients.close();
  }
}

async function nodeCheck(): Promise<Check> {
  return { name: "Node", state: "ok", text: process.versions.node };
}

async function storeCheck({ databaseUrl, databasePoolSize, settings }: Config): Promise<Check> {
  const name = "Store";
  try {
    const store = await openStore(databaseUrl, { mustExist: true, busyLimitMs: TIMEOUT_MS });
    const aheadMs = await databaseNowMs(store.db).then((nowMs) => nowMs - Date.now());
    await store.close();
    const skew = skewOf("The database", aheadMs);
    if (skew !== undefined) return { name, ...skew };
    // Settings are listed without the password.
    const shown = settings.find((setting) => setting.name === "PAYRUN_DATABASE_URL")?.value;
    const text = isPostgres(databaseUrl)
      ? `${shown}; at most ${databasePoolSize} connections a process`
      : `${databaseUrl}; SQLite means one host: worker and gateway run on this machine`;
    return isPlainDatabase(databaseUrl) ? plain(name, text) : { name, state: "ok", text };
  } catch (error) {
    const isMissing = error instanceof StoreError && error.code === "missing";
    const remedy = "“payrun up” makes a store, “payrun worker” or “payrun gateway” too.";
    return { name, state: "failed", text: reasonOf(error), ...(isMissing && { remedy }) };
  }
}

async function tokensIn(databaseUrl: string): Promise<Token[]> {
  const store = await openStore(databaseUrl, { mustExist: true, busyLimitMs: TIMEOUT_MS });
  try {
    return await listTokens(store.db);
  } finally {
    await store.close();
  }
}

/** Where real money moves, one administrator makes tokens and another confirms them. */
async function administratorsCheck({ databaseUrl, profiles }: Config): Promise<readonly Check[]> {
  if (profiles.all().every(({ sandbox }) => sandbox)) return [];
  try {
    const tokens = await tokensIn(databaseUrl);
    const now = { nowMs: Date.now(), sandboxesOnly: false };
    const theirs = tokens.filter(
      (token) => token.roles.includes("admin") && tokenProblem(token, now) === undefined,
    );
    const people = new Set(theirs.map(({ principal }) => principal)).size;
    const text = `${people} with a token that counts`;
    if (people >= 2) return [{ name: "Administrators", state: "ok", text }];
    const remedy =
      people === 0
        ? "“payrun token bootstrap NAME NAME” makes the first two, on the store's host."
        : "Nobody can confirm what one makes: revoke that one's, and bootstrap two again.";
    return [{ name: "Administrators", state: "warning", text, remedy }];
  } catch {
    // The store's own check says why.
    return [];
  }
}

async function temporalChecks({ temporal, home }: Config): Promise<readonly Check[]> {
  const { namespace } = temporal;
  const embedded = temporal.isExternal ? undefined : readRunning(home)?.temporal;
  const connectionOptions =
    embedded === undefined
      ? temporal.connectionOptions
      : { ...temporal.connectionOptions, address: embedded };
  const name = "Temporal";
  const text = `${connectionOptions.address}, namespace ${namespace}`;
  const { Connection } = await import("@temporalio/client");
  try {
    const connection = await Connection.connect({
      ...connectionOptions,
      connectTimeout: TIMEOUT_MS,
    });
    try {
      const { workflowService } = connection;
      const unserved = await connection.withDeadline(Date.now() + TIMEOUT_MS, async () => {
        await workflowService.describeNamespace({ namespace });
        return unservedQueues(workflowService, namespace);
      });
      const isPlain = isPlainTemporal(connectionOptions);
      return [isPlain ? plain(name, text) : { name, state: "ok", text }, workersCheck(unserved)];
    } finally {
      await connection.close();
    }
  } catch (error) {
    return [
      {
        name,
        state: "failed",
        text: `${text}: ${reasonOf(error)}`,
        remedy: "“payrun up” starts one; TEMPORAL_ADDRESS names another.",
      },
    ];
  }
}

/** Somebody has said that this may be. */
function plain(name: string, text: string): Check {
  return {
    name,
    state: "warning",
    text: `${text}: on another machine, without TLS`,
    remedy: "PAYRUN_ALLOW_PLAINTEXT allows it, which is for private networks only.",
  };
}

/** Whether somebody works on each task queue. */
function workersCheck(unserved: readonly ServedQueue[]): Check {
  const name = "Workers";
  if (unserved.length === 0) return { name, state: "ok", text: "each task queue has one" };
  const queues = unserved.map(({ taskQueue, stands }) => `${taskQueue} (${stands.toLowerCase()})`);
  const serve = unserved.map((queue) => queue.serve).join(" ");
  return {
    name,
    state: "failed",
    text: `none works on ${queues.join(", ")}`,
    remedy: `“payrun worker” starts one for all, “payrun worker --serve ${serve}” for these.`,
  };
}

async function gatewayCheck(config: Config): Promise<Check> {
  const { url } = gatewayOf(config);
  const name = "Gateway";
  try {
    const { status, body } = await httpJson("GET", `${url}/ready`, { timeoutMs: TIMEOUT_MS });
    if (status === 200) {
      return crossesInTheClear(url) ? plain(name, url) : { name, state: "ok", text: url };
    }
    return { name, state: "failed", text: `${url} is not ready: ${JSON.stringify(body)}` };
  } catch (error) {
    return {
      name,
      state: "failed",
      text: `${url}: ${reasonOf(error)}`,
      remedy: "“payrun up” or “payrun gateway” starts one; PAYRUN_GATEWAY_URL names another.",
    };
  }
}

/** Whether people hear what they are told. A store that can't be opened has been said already. */
async function noticesCheck({ databaseUrl, profiles }: Config): Promise<Check> {
  const name = "Notices";
  try {
    const store = await openStore(databaseUrl, { mustExist: true, busyLimitMs: TIMEOUT_MS });
    try {
      const { undeliverable, retrying, unrouted } = await countUndelivered(store.db);
      if (undeliverable + retrying + unrouted > 0) {
        return {
          name,
          state: "warning",
          text: `${undeliverable} given up, ${retrying} tried again, ${unrouted} without an address`,
          remedy: "“payrun notices --undelivered” says which and why.",
        };
      }
    } finally {
      await store.close();
    }
    const telling = profiles.all().filter(({ notify }) => (notify?.channels.length ?? 0) > 0);
    return telling.length > 0
      ? { name, state: "ok", text: "everybody was told" }
      : {
          name,
          state: "ok",
          text: "nobody is told: no profile has notify: { channels }, and no PAYMENTS_NOTIFY_… is set",
        };
  } catch {
    return { name, state: "ok", text: "none, without a store" };
  }
}

async function noBusiness({ home }: Config): Promise<Check> {
  if (readRunning(home) !== undefined) {
    return { name: "Businesses", state: "ok", text: "the sample company of the sandbox beside it" };
  }
  return {
    name: "Businesses",
    state: "warning",
    text: "none is configured",
    remedy: "Set PAYRUN_PROFILES or the PAYMENTS_… settings; “payrun up” uses its sandbox else.",
  };
}

/** Undefined where a clock agrees with this machine's as well as it can be told. */
export function skewOf(whose: string, aheadMs: number): Omit<Check, "name"> | undefined {
  if (Math.abs(aheadMs) <= SKEW_MS) return undefined;
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  return {
    state: "warning",
    text: `${whose}'s clock is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} this machine's`,
    remedy: "Set the clocks by a time server (NTP): dates and approvals are judged by them.",
  };
}

async function businessCheck(
  clients: Clients,
  business: BusinessProfile,
  aheadMs: ReadonlyMap<string, number>,
): Promise<Check> {
  const name = `Business ${business.name}`;
  const kind = business.sandbox ? "a sandbox, no real money" : "real money";
  try {
    const sources = await clients.of(business).fundingSources.list();
    const payable = sources.filter(({ canPay }) => canPay).length;
    // A sandbox's clocks may be stepped.
    const skew = business.sandbox
      ? undefined
      : skewOf("The service", aheadMs.get(business.name) ?? 0);
    if (skew !== undefined) return { name, ...skew };
    if (business.webhookSecrets.length === 0) {
      return {
        name,
        state: "warning",
        text: `${business.apiUrl} (${kind}); webhookSecrets is empty: changes are found by polling only`,
      };
    }
    return {
      name,
      state: payable > 0 ? "ok" : "warning",
      text: `${business.apiUrl} (${kind}); ${payable} funding sources can pay`,
    };
  } catch (error) {
    return {
      name,
      state: "failed",
      text: `${business.apiUrl}: ${reasonOf(error)}`,
      remedy: "Check apiUrl, businessId and the token of its profile.",
    };
  }
}

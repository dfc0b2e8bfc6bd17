import { z } from "zod";

import type { Config } from "../../config.ts";
import { Clients } from "../../business/clients.ts";
import { openStore } from "../../store/open.ts";
import { crossesInTheClear, isPlainTemporal } from "../../config/plaintext.ts";
import { tokenProblem } from "../../domain/approvals/token.ts";
import { listTokens } from "../../store/approvals/tokens.ts";
import type { Condition } from "../../api/conditions.ts";
import { ReadyBody } from "../../api/system.ts";
import { conditionsOf } from "../../reports/conditions.ts";
import { CliError, errorReason } from "../terminal/cli-error.ts";
import { howToStart } from "../../temporal/how-to-start.ts";
import { type ServedQueue, unservedQueues } from "../../temporal/unserved-queues.ts";
import {
  businessCheck,
  type Check,
  limitsCheck,
  noBusiness,
  plain,
  webhookCheck,
} from "./doctor-businesses.ts";
import { encryptionCheck, vaultCheck } from "./doctor-keys.ts";
import { proxyChecks } from "./doctor-proxies.ts";
import { storeCheck, writesHere } from "./doctor-store.ts";
import { anybodys, isAnybodys } from "./doctor-whose.ts";
import { withStore } from "./with-store.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import { httpJson } from "../client/http.ts";
import { ownToken } from "../home/people.ts";
import { temporalOf } from "../home/running-file.ts";

const TIMEOUT_MS = 5_000;

/**
 * Checks everything that Payrun needs, and continues if something is missing.
 *
 * @param fix repair what can be repaired from here
 */
export async function checkEverything(config: Config, fix: boolean): Promise<readonly Check[]> {
  const businesses = config.profiles.all();
  const aheadMs = new Map<string, number>();
  const clients = new Clients({
    connections: 2,
    timeoutMs: TIMEOUT_MS,
    onDate: ({ name }, dateMs) => aheadMs.set(name, dateMs - Date.now()),
  });
  try {
    const checks = await Promise.all([
      nodeCheck(),
      storeCheck(config),
      administratorsCheck(config),
      vaultCheck(config),
      temporalChecks(config),
      gatewayCheck(config),
      conditionChecks(config),
      ...(businesses.length === 0
        ? [noBusiness(config)]
        : businesses.flatMap((business) => [
            businessCheck(clients, business, aheadMs),
            limitsCheck(business),
            webhookCheck(clients, business, config, fix),
          ])),
    ]);
    return [...checks.flat(), ...proxyChecks(config), ...encryptionCheck(config)];
  } finally {
    await clients.close();
  }
}

async function nodeCheck(): Promise<Check> {
  return { name: "Node", state: "ok", text: process.versions.node };
}

/** With real money, one administrator makes tokens and another confirms them. */
async function administratorsCheck(config: Config): Promise<readonly Check[]> {
  if (config.profiles.sandboxesOnly()) return [];
  try {
    const tokens = await withStore(config, ({ db }) => listTokens(db), TIMEOUT_MS);
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
        : "Nobody can confirm the tokens that one administrator makes: revoke that one's, and bootstrap two again.";
    return [{ name: "Administrators", state: "warning", text, remedy }];
  } catch {
    // The store's own check reports the reason.
    return [];
  }
}

async function temporalChecks(config: Config): Promise<readonly Check[]> {
  const { namespace } = config.temporal;
  const connectionOptions = temporalOf(config);
  const name = "Temporal";
  const text = `${connectionOptions.address}, namespace ${namespace}`;
  const { connectTo } = await import("../../temporal/connection.ts");
  try {
    const connection = await connectTo({ ...connectionOptions, connectTimeout: TIMEOUT_MS });
    try {
      const { workflowService } = connection;
      const unserved = await connection.withDeadline(Date.now() + TIMEOUT_MS, async () => {
        await workflowService.describeNamespace({ namespace });
        return unservedQueues(workflowService, namespace);
      });
      if (isAnybodys(config)) return [anybodys(name, text)];
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
        text: `${text}: ${errorReason(error)}`,
        remedy: howToStart(config.temporal.isExternal),
      },
    ];
  }
}

/** Checks whether a worker serves each task queue. */
function workersCheck(unserved: readonly ServedQueue[]): Check {
  const name = "Task queues";
  if (unserved.length === 0)
    return {
      name,
      state: "ok",
      text: "Temporal has heard from a worker on each within five minutes",
    };
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
    const ready = ReadyBody.partial().safeParse(body).data;
    const isWhole = ready?.store === "ok" && ready.temporal === "ok";
    if (status === 200 && isWhole) {
      const refusal = await tokenRefusal(config);
      if (refusal !== undefined) {
        const text = `${url} answers, but accepts no token of yours: ${refusal}`;
        return { name, state: "failed", text, remedy: ANOTHER_PAYRUN };
      }
      if (isAnybodys(config)) return anybodys(name, url);
      return crossesInTheClear(url) ? plain(name, url) : { name, state: "ok", text: url };
    }
    const what = status === 200 ? "takes webhooks, but not everything works" : "is not ready";
    return {
      name,
      state: "failed",
      text: `${url} ${what}: ${ready?.reason ?? JSON.stringify(body)}`,
      remedy: "“payrun up” starts what is missing; the gateway's log says what it can't reach.",
    };
  } catch (error) {
    return {
      name,
      state: "failed",
      text: `${url}: ${errorReason(error)}`,
      remedy: "“payrun up” or “payrun gateway” starts one; PAYRUN_GATEWAY_URL names another.",
    };
  }
}

const ANOTHER_PAYRUN =
  "If another Payrun runs there, PAYRUN_GATEWAY_URL or PAYRUN_GATEWAY_PORT names yours; otherwise “payrun token create” makes a token.";

/** Returns why the gateway refuses this home's token; undefined if it doesn't, or there is none. */
async function tokenRefusal(config: Config): Promise<string | undefined> {
  if (ownToken(config) === undefined) return undefined;
  try {
    await gatewayOf(config).get("/v1/conditions", z.unknown());
  } catch (error) {
    if (error instanceof CliError && error.code === "unauthorized") return error.message;
  }
  return undefined;
}

/** What each condition is about. A subject without a condition is well. */
const ABOUT: Readonly<Record<Condition["code"], string>> = {
  store_not_writable: "Store",
  store_behind: "Store",
  run_not_started: "Runs",
  decision_due: "Runs",
  bill_in_doubt: "Runs",
  events_undispatched: "Events",
  webhooks_missed: "Webhooks",
  temporal_unreachable: "Temporal",
  no_worker: "Workers",
  worker_silent: "Workers",
  key_missing: "Workers",
  clock_skew: "Clocks",
  webhooks_paused: "Webhooks",
  nobody_told: "Notices",
  notices_undelivered: "Notices",
  token_expires: "Tokens",
  nobody_approves: "Approvers",
};

const WELL: Readonly<Record<string, string>> = {
  Workers: "were heard from just now",
  Clocks: "the database's agrees with this machine's",
  Notices: "none waits to be delivered",
  Tokens: "none ends within two weeks",
  Approvers: "each approval that a playbook asks for has a person who may give it",
};

/**
 * The check for a store that opens but doesn't show everything, because the role may read only part
 * of it.
 */
const UNSEEN = {
  name: "Workers",
  state: "failed",
  text: "neither they nor clocks, runs, webhooks, notices, tokens or approvers could be checked",
  remedy:
    "Set PAYRUN_DATABASE_URL to the gateway's or a worker's role: a reader's doesn't see all that this needs.",
} as const;

/** Checks what the store and the settings show. Another check reports a store that can't open. */
async function conditionChecks({
  databaseUrl,
  profiles,
  encryptionKeys,
}: Config): Promise<readonly Check[]> {
  try {
    const store = await openStore(databaseUrl, { mustExist: true, busyLimitMs: TIMEOUT_MS });
    try {
      const asked = {
        db: store.db,
        storeState: await writesHere(store),
        profiles: profiles.all(),
        sandboxesOnly: profiles.sandboxesOnly(),
        nowMs: Date.now(),
        keyIds: encryptionKeys.map(({ id }) => id),
      };
      const conditions = await conditionsOf(asked);
      // The store's own check reports what keeps it from being written.
      const found = conditions
        .filter(({ code }) => code !== "store_not_writable")
        .map(({ code, severity, text, remedy }) => ({
          name: ABOUT[code],
          state: severity,
          text,
          remedy,
        }));
      const well = Object.entries(WELL)
        .filter(([name]) => !found.some((check) => check.name === name))
        .map(([name, text]) => ({ name, state: "ok" as const, text }));
      return [...well, ...found];
    } catch (error) {
      return [{ ...UNSEEN, text: `${UNSEEN.text}: ${errorReason(error)}` }];
    } finally {
      await store.close();
    }
  } catch {
    return [];
  }
}

import type { AddressInfo } from "node:net";
import { createAdaptorServer, type ServerType } from "@hono/node-server";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Client } from "@temporalio/client";
import type { GatewayLimits } from "../contracts/gateway-limits.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import type { PaymentsClient } from "../payments-api/index.ts";
import type { Store } from "../store/index.ts";
import { createBusinessClocks, type BusinessClocks } from "../actions/clocks.ts";
import type { BusinessProfiles, Log } from "../actions/context.ts";
import { codecOf, type EncryptionSettings } from "../temporal/codec.ts";
import type { GatewayContext } from "./http/context.ts";
import { startDeliveryRecovery, type DeliveryRecovery } from "../events/deliveries.ts";
import { startDispatcher, type Dispatcher } from "../events/dispatcher.ts";
import { createApp } from "./app.ts";
import { Proxies } from "./http/proxies.ts";
import { limitConnections, Rates, serverOptions, UnprovenBodies } from "./http/limits.ts";
import { RefusedToday } from "../actions/refused-today.ts";
import { TokenUses } from "./http/token-uses.ts";
import { startHousekeeping } from "./housekeeping.ts";
import { InboxWriter } from "../events/inbox-writer.ts";
import { conditionsNow } from "./routes/conditions.ts";
import { createMetrics } from "./http/metrics.ts";
import { startDigests } from "../notices/digests.ts";
import { Mailer } from "../notices/mail.ts";
import { startNoticeSender } from "../notices/sender.ts";
import type { Repeated } from "../process/repeat.ts";
import { StoreProbe } from "./store-probe.ts";
import { startQueueWatch } from "./unserved-queues.ts";
import { Keyring } from "../vault/keyring.ts";
import { Vault } from "../vault/vault.ts";

export interface GatewayOptions {
  readonly store: Store;
  readonly profiles: BusinessProfiles & {
    /** True if no business moves real money. */
    sandboxesOnly(): boolean;
  };
  /** May be on a lazy connection: the gateway accepts webhooks while Temporal is down. */
  readonly temporal: Client;
  readonly clientOf: (profile: BusinessProfile) => PaymentsClient;
  readonly log: Log;
  /** Without keys the gateway can't accept personal data or read anything encrypted. */
  readonly encryption?: EncryptionSettings;
  /** Origins of Temporal's UI, whose pages may have histories decrypted; none by default. */
  readonly temporalUiOrigins?: readonly string[];
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Address that webhook endpoints name; by default, the address that the gateway listens on. */
  readonly publicUrl?: string;
  /** Real time by default; tests pass their own. */
  readonly nowMs?: () => number;
  readonly clocks?: BusinessClocks;
  readonly limits: GatewayLimits;
  /** The longest that a dry plan may take; 60 s by default. */
  readonly planTimeoutMs?: number;
}

export interface Gateway {
  readonly app: OpenAPIHono;
  /**
   * Listens, and starts the dispatcher and the search for lost webhooks.
   *
   * @returns the gateway's address, without a slash at the end
   * @throws the socket's error, such as `EADDRINUSE`, with nothing left running
   */
  start(): Promise<string>;
  /** Stops the gateway after the requests in progress have been answered. */
  stop(): Promise<void>;
}

/** Puts the gateway's parts together; nothing runs before `start`. */
export function createGateway(options: GatewayOptions): Gateway {
  const { store, profiles, temporal, clientOf, log, limits } = options;
  const nowMs = options.nowMs ?? Date.now;
  let address = `http://${options.host}:${options.port}`;
  let dispatcher: Dispatcher | undefined;
  let recovery: DeliveryRecovery | undefined;
  let housekeeping: Repeated | undefined;
  let notices: Repeated | undefined;
  let digests: Repeated | undefined;
  let queueWatch: Repeated | undefined;
  const context: GatewayContext = {
    store,
    profiles,
    temporal,
    clientOf,
    log,
    ...keepers(options.encryption),
    temporalUiOrigins: options.temporalUiOrigins ?? [],
    nowMs,
    clocks: options.clocks ?? createBusinessClocks(),
    metrics: createMetrics(store, () => conditionsNow(context)),
    temporalSilence: { sinceMs: undefined },
    refused: new RefusedToday(),
    inbox: new InboxWriter(store),
    storeProbe: new StoreProbe(store),
    rates: new Rates(limits),
    proxies: new Proxies(limits.trustedProxies),
    uses: new TokenUses({ store, profiles, log, nowMs }),
    mailer: new Mailer(),
    sandboxesOnly: () => profiles.sandboxesOnly(),
    unproven: new UnprovenBodies(),
    publicUrl: () => options.publicUrl ?? address,
    planTimeoutMs: options.planTimeoutMs ?? 60_000,
    wakeDispatcher: () => dispatcher?.wake(),
  };
  const app = createApp(context);
  const server = createAdaptorServer({
    fetch: app.fetch,
    hostname: options.host,
    serverOptions: serverOptions(limits),
  });
  limitConnections(server, limits, context.proxies);

  return {
    app,
    async start() {
      const port = await listen(server, options.host, options.port);
      const host = options.host.includes(":") ? `[${options.host}]` : options.host;
      address = `http://${host}:${port}`;
      dispatcher = startDispatcher(context);
      recovery = startDeliveryRecovery(context);
      housekeeping = startHousekeeping(context);
      notices = startNoticeSender(context);
      digests = startDigests(context);
      queueWatch = startQueueWatch(context);
      return address;
    },
    async stop() {
      await Promise.all([
        close(server),
        dispatcher?.stop(),
        recovery?.stop(),
        housekeeping?.stop(),
        notices?.stop(),
        digests?.stop(),
        queueWatch?.stop(),
      ]);
      context.mailer.close();
    },
  };
}

/** Returns the vault, the codec and the ids of the keys behind them. */
function keepers(
  settings: EncryptionSettings = { encryptionKeys: [], encryptsHistories: () => false },
): Pick<GatewayContext, "vault" | "codec" | "keyIds"> {
  return {
    vault: new Vault(new Keyring(settings.encryptionKeys)),
    codec: codecOf(settings),
    keyIds: settings.encryptionKeys.map(({ id }) => id),
  };
}

function listen(server: ServerType, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

const CLOSE_LIMIT_MS = 5_000;

function close(server: ServerType): Promise<void> {
  if (!server.listening) return Promise.resolve();
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      if ("closeAllConnections" in server) server.closeAllConnections();
    }, CLOSE_LIMIT_MS);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    if ("closeIdleConnections" in server) server.closeIdleConnections();
  });
}

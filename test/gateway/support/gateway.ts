import { createHmac } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@temporalio/client";
import { Clients } from "../../../src/business/clients.ts";
import { loadConfig } from "../../../src/config.ts";
import type { GatewayLimits } from "../../../src/contracts/gateway-limits.ts";
import type { BusinessProfile } from "../../../src/config/business-profile.ts";
import { Profiles } from "../../../src/config/profiles.ts";
import { createGateway, type Gateway } from "../../../src/gateway/gateway.ts";
import { lazyConnection } from "../../../src/temporal/connection.ts";
import type { Store } from "../../../src/store/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { confirmedToken } from "../../support/confirmed-token.ts";

/** No server listens here: Temporal is down. */
const NOBODY = "127.0.0.1:1";

export const SECRET = "whsec_test_0123456789";

export function profile(changes: Partial<BusinessProfile> = {}): BusinessProfile {
  return {
    name: "acme",
    apiUrl: "http://127.0.0.1:1",
    businessId: "biz_acme",
    token: { kind: "value", value: "api-token" },
    webhookSecrets: [SECRET],
    sandbox: false,
    ...changes,
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Record<string, unknown>;
  readonly text: string;
}

export interface TestGateway {
  readonly gateway: Gateway;
  readonly store: Store;
  readonly url: string;
  readonly folder: string;
  readonly temporal: Client;
  /** The gateway's log messages with their fields. */
  readonly logged: readonly string[];
  /** Makes a confirmed token for a person of this name. */
  token(name: string, roles: readonly string[], businesses?: readonly string[]): Promise<string>;
  call(method: string, path: string, token: string | null, body?: unknown): Promise<Answer>;
  stop(): Promise<void>;
}

export interface TestGatewayOptions {
  readonly profiles?: readonly BusinessProfile[];
  readonly temporalAddress?: string;
  readonly namespace?: string;
  readonly nowMs?: () => number;
  readonly planTimeoutMs?: number;
  readonly folder?: string;
  readonly limits?: Partial<GatewayLimits>;
  /** Any free port by default. */
  readonly port?: number;
  /** The address for people; by default where the gateway listens. */
  readonly publicUrl?: string;
  readonly temporalUiOrigins?: readonly string[];
  /** The encryption keys; one by default. */
  readonly keys?: readonly { readonly id: string; readonly key: Buffer }[];
}

/** Starts a real gateway with a socket and a store; Temporal is down unless an address is given. */
export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), "payrun-gateway-")));
  const store = await openStore(`sqlite:${folder}/payrun.db`);
  const profiles = new Profiles({ businesses: options.profiles ?? [profile()] });
  const connection = lazyConnection({ address: options.temporalAddress ?? NOBODY });
  const temporal = new Client({ connection, namespace: options.namespace ?? "default" });
  const clients = new Clients({ connections: 4, timeoutMs: 30_000 });
  const logged: string[] = [];
  const log = (message: string, fields?: Record<string, unknown>): void => {
    logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
  };
  const gateway = createGateway({
    store,
    profiles,
    temporal,
    clientOf: (each) => clients.of(each),
    log: { info: log, warn: log, error: log },
    encryption: {
      encryptionKeys: options.keys ?? [{ id: "test", key: Buffer.alloc(32, 7) }],
      encryptsHistories: () => false,
    },
    temporalUiOrigins: options.temporalUiOrigins ?? [],
    host: "127.0.0.1",
    port: options.port ?? 0,
    limits: { ...loadConfig({}).gateway.limits, ...options.limits },
    ...(options.nowMs === undefined ? {} : { nowMs: options.nowMs }),
    ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
    ...(options.planTimeoutMs === undefined ? {} : { planTimeoutMs: options.planTimeoutMs }),
  });
  const url = await gateway.start();
  return {
    gateway,
    store,
    url,
    folder,
    temporal,
    logged,
    async token(name, roles, businesses) {
      const who = { name, roles, businesses, createdBy: "setup", nowMs: Date.now() };
      return (await confirmedToken(store, who)).token;
    },
    call: (method, path, token, body) => call(url, method, path, token, body),
    async stop() {
      await gateway.stop();
      await clients.close();
      await connection.close();
      await store.close();
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

async function call(
  url: string,
  method: string,
  path: string,
  token: string | null,
  body?: unknown,
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return answerOf(response);
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  return {
    status: response.status,
    headers: response.headers,
    json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
    text,
  };
}

let lastSequence = 1_000n;

/** Returns an event's envelope (API specification, section 6). */
export function eventBody(changes: {
  readonly id?: string;
  readonly type?: string;
  readonly object?: string;
  readonly objectId?: string;
  readonly businessId?: string;
  readonly createdAt?: string;
}): string {
  lastSequence += 1n;
  return JSON.stringify({
    id: changes.id ?? `evt_${lastSequence}`,
    type: changes.type ?? "payable.paid",
    sequence: String(lastSequence),
    createdAt: changes.createdAt ?? "2026-11-20T12:00:00.000Z",
    businessId: changes.businessId ?? "biz_acme",
    data: { object: changes.object ?? "payable", id: changes.objectId ?? "pay_1" },
  });
}

/** Signs as the service does (API specification, section 6). */
export function signed(body: string | Uint8Array, atMs = Date.now(), secret = SECRET): string {
  const t = Math.floor(atMs / 1000);
  const v1 = createHmac("sha256", secret).update(`${t}.`).update(body).digest("hex");
  return `t=${t},v1=${v1}`;
}

/** Delivers a webhook, correctly signed unless `signature` says otherwise. */
export async function deliver(
  url: string,
  body: string | Uint8Array,
  options: {
    readonly business?: string;
    readonly signature?: string | null;
    readonly contentType?: string;
  } = {},
): Promise<Answer> {
  const signature = options.signature === undefined ? signed(body) : options.signature;
  const response = await fetch(`${url}/webhooks/${options.business ?? "acme"}`, {
    method: "POST",
    headers: {
      "content-type": options.contentType ?? "application/json",
      ...(signature === null ? {} : { "service-signature": signature }),
    },
    body,
  });
  return answerOf(response);
}

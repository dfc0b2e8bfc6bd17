import { Connection, type ConnectionOptions } from "@temporalio/client";
import type { NativeConnectionOptions } from "@temporalio/worker";
import { proxyForTemporal } from "../outgoing/proxy.ts";

/** Where a server is, and what else holds for every connection to it. */
export type ServerOptions = ConnectionOptions & { readonly address: string };

/** Opens a connection, through the environment's proxy if it has one for the server. */
export function connectTo(options: ServerOptions): Promise<Connection> {
  return Connection.connect(onItsWay(options));
}

/**
 * Returns a connection for a process that must outlive the server: it opens with the first call,
 * and opens again within seconds of the server's return.
 *
 * It works without the SDK's own retries: they sleep between tries, and one that wakes up after the
 * connection was closed throws an error that can't be caught.
 */
export function lazyConnection(options: ServerOptions): Connection {
  const onWay = onItsWay(options);
  return Connection.lazy({
    ...onWay,
    interceptors: [],
    channelArgs: {
      ...onWay.channelArgs,
      "grpc.initial_reconnect_backoff_ms": 200,
      "grpc.max_reconnect_backoff_ms": 2_000,
    },
  });
}

/**
 * Returns the options with the way to the server. gRPC would read the environment by itself: only
 * one spelling of the variables, and also for this machine.
 */
function onItsWay(options: ServerOptions): ServerOptions {
  const proxy = proxyForTemporal(options.address);
  const channelArgs = { ...options.channelArgs, "grpc.enable_http_proxy": 0 };
  if (proxy === undefined) return { ...options, channelArgs };
  const { user, password } = credentialsOf(proxy.url);
  return {
    ...options,
    address: hostAndPort(proxy.url),
    channelArgs: {
      ...channelArgs,
      "grpc.http_connect_target": `dns:${proxy.target}`,
      "grpc.default_authority": proxy.target,
      ...(user === "" ? {} : { "grpc.http_connect_creds": `${user}:${password}` }),
    },
  };
}

/** Returns the options of a worker's own connection with the way to the server. */
export function nativeOptions<Options extends NativeConnectionOptions & { address: string }>(
  options: Options,
): NativeConnectionOptions {
  const proxy = proxyForTemporal(options.address);
  if (proxy === undefined) return options;
  const { user: username, password } = credentialsOf(proxy.url);
  return {
    ...options,
    proxy: {
      type: "http-connect",
      targetHost: hostAndPort(proxy.url),
      ...(username === "" ? {} : { basicAuth: { username, password } }),
    },
  };
}

function hostAndPort({ hostname, port }: URL): string {
  return `${hostname}:${port || "80"}`;
}

function credentialsOf({ username, password }: URL): { user: string; password: string } {
  return { user: decodeURIComponent(username), password: decodeURIComponent(password) };
}

import { Connection, type ConnectionOptions } from "@temporalio/client";

/**
 * Returns a connection for a process that must outlive the server: it opens with the first call,
 * and opens again within seconds of the server's return.
 *
 * It works without the SDK's own retries: they sleep between tries, and one that wakes up after the
 * connection was closed throws an error that can't be caught.
 */
export function lazyConnection(options: ConnectionOptions): Connection {
  return Connection.lazy({
    ...options,
    interceptors: [],
    channelArgs: {
      ...options.channelArgs,
      "grpc.initial_reconnect_backoff_ms": 200,
      "grpc.max_reconnect_backoff_ms": 2_000,
    },
  });
}

import { Connection, type ConnectionOptions } from "@temporalio/client";

/**
 * A connection for a process that must outlive the server: opened with the first call, and opened
 * again within seconds of the server's return.
 *
 * Without the SDK's own retries: they sleep between tries, and one that wakes up after the
 * connection was closed throws where nobody can catch it.
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

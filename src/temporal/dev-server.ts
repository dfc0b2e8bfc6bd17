import { SEARCH_ATTRIBUTES } from "../contracts/search-attributes.ts";

/** The types of search attributes as the CLI writes them. */
const ATTRIBUTE_TYPES = {
  KEYWORD: "Keyword",
  BOOL: "Bool",
  INT: "Int",
  DATETIME: "Datetime",
} as const;

/**
 * A development server keeps everything in one shard, and reads a shard's queues twenty times a
 * second by default. When more happens, each step of each workflow waits some 40 ms for the next
 * read. Larger servers have many shards.
 */
const READS_A_SECOND = 1_000;

/** Returns the Temporal CLI's arguments for a development server that Payrun can work with. */
export function devServerArguments(port: number): string[] {
  const attributes = Object.entries(SEARCH_ATTRIBUTES).map(
    ([name, type]) => `${name}=${ATTRIBUTE_TYPES[type]}`,
  );
  const reads = ["transferProcessor", "timerProcessor"].map(
    (queue) => `history.${queue}MaxPollRPS=${READS_A_SECOND}`,
  );
  return [
    "server",
    "start-dev",
    "--ip",
    "127.0.0.1",
    "--port",
    String(port),
    "--log-level",
    "error",
    ...attributes.flatMap((attribute) => ["--search-attribute", attribute]),
    ...reads.flatMap((value) => ["--dynamic-config-value", value]),
  ];
}

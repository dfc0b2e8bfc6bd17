import type { ClientConnectConfig } from "@temporalio/envconfig";

/** Connections that may leave this machine without TLS if a setting allows it. */
export const PLAINTEXT_PARTS = ["gateway", "temporal", "postgres"] as const;

export type PlaintextPart = (typeof PLAINTEXT_PARTS)[number];

/** True for addresses that never leave this machine. */
export function isThisMachine(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** True if data for an address crosses a network in the clear. */
export function crossesInTheClear(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && url.protocol === "http:" && !isThisMachine(url.hostname);
}

/** True if PostgreSQL is on another machine and its address doesn't mention TLS. */
export function isPlainDatabase(databaseUrl: string): boolean {
  const url = URL.parse(databaseUrl);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) return false;
  const host = url.searchParams.get("host") ?? url.hostname;
  const isLocal = host === "" || host.startsWith("/") || isThisMachine(host);
  return !isLocal && !["sslmode", "ssl"].some((name) => url.searchParams.has(name));
}

/** True if the Temporal server is on another machine and the connection has no TLS. */
export function isPlainTemporal({
  address = "",
  tls,
  apiKey,
}: NonNullable<ClientConnectConfig["connectionOptions"]>): boolean {
  const isTls = tls !== undefined && tls !== null && tls !== false;
  const host = address.replace(/:\d+$/, "");
  return address !== "" && !isTls && apiKey === undefined && !isThisMachine(host);
}

/** Returns the connections that are refused as they are set, a line for each. */
export function plaintextProblems(
  databaseUrl: string,
  connectionOptions: NonNullable<ClientConnectConfig["connectionOptions"]>,
  allowed: readonly PlaintextPart[],
): string[] {
  const problems: string[] = [];
  if (!allowed.includes("postgres") && isPlainDatabase(databaseUrl)) {
    problems.push(plainDatabaseText("PAYRUN_DATABASE_URL"));
  }
  if (!allowed.includes("temporal") && isPlainTemporal(connectionOptions)) {
    problems.push(
      `TEMPORAL_ADDRESS names another machine, without TLS: set TEMPORAL_TLS=true, or TEMPORAL_API_KEY. ${allowText("temporal")}`,
    );
  }
  return problems;
}

/** @param name the setting or argument that names the database */
export function plainDatabaseText(name: string): string {
  return `${name} names another machine, without TLS: add ?sslmode=verify-full (or what its server can do). ${allowText("postgres")}`;
}

/** Returns how to declare a network private. */
export function allowText(part: PlaintextPart): string {
  return `On a private network, PAYRUN_ALLOW_PLAINTEXT=${part} allows it.`;
}

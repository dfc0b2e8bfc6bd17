import { namesSeveralHosts, SEVERAL_HOSTS } from "../../contracts/several-hosts.ts";
import { StoreError } from "../sql/errors.ts";

/** A PostgreSQL database as its address names it, without the password. */
export interface Location {
  /** For people: never with the password. */
  readonly text: string;
  readonly database: string;
  readonly user: string;
}

/** @throws {StoreError} `unsupported` if it isn't an address, or one of several hosts */
export function locationOf(url: string): Location {
  if (namesSeveralHosts(url)) {
    throw new StoreError("unsupported", `The address of the store ${SEVERAL_HOSTS}.`);
  }
  const parsed = URL.parse(url);
  if (parsed === null) {
    throw new StoreError(
      "unsupported",
      "PAYRUN_DATABASE_URL is not an address: postgres://USER:PASSWORD@HOST:PORT/DATABASE, with " +
        "special characters of the password percent-encoded.",
    );
  }
  const user = decoded(parsed.username);
  const database = decoded(parsed.pathname.slice(1)) || user;
  const host = parsed.hostname || parsed.searchParams.get("host") || "localhost";
  const port = parsed.port === "" ? "" : `:${parsed.port}`;
  const who = user === "" ? "" : `${user}@`;
  return { text: `postgres://${who}${host}${port}/${database}`, database, user };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

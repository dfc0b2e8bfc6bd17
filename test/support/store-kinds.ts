import { randomBytes } from "node:crypto";
import { isLong } from "./long.ts";
import { databasesOf } from "./postgres-databases.ts";
import { hasPostgres } from "./postgres-programs.ts";
import { findServer } from "./postgres-setup.ts";

export type StoreKind = "sqlite" | "postgres";

/**
 * Returns the kinds of store on which whole-stack tests run: both in `npm run test:long`; in
 * `npm test` the requested one, if it is available.
 */
export function storeKinds(short: StoreKind): readonly StoreKind[] {
  if (!hasPostgres()) return ["sqlite"];
  return isLong ? ["sqlite", "postgres"] : [short];
}

/** Returns where a stack of this kind keeps its store; `stop` removes it. */
export async function storePlace(kind: StoreKind): Promise<{
  readonly options: { readonly databaseUrl?: string };
  readonly stop: () => Promise<void>;
}> {
  if (kind === "sqlite") return { options: {}, stop: async () => undefined };
  const server = await findServer();
  const databases = databasesOf(server.adminUrl);
  const name = `payrun_test_${randomBytes(6).toString("hex")}`;
  await databases.create(name);
  return {
    options: { databaseUrl: databases.urlOf(name) },
    stop: async () => {
      await databases.drop(name);
      await server.stop();
    },
  };
}

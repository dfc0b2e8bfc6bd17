import { randomBytes } from "node:crypto";
import { isLong } from "./long.ts";
import { databasesOf } from "./postgres-databases.ts";
import { hasPostgres } from "./postgres-programs.ts";
import { findServer } from "./postgres-setup.ts";

export type StoreKind = "sqlite" | "postgres";

/**
 * The kinds of store that whole-stack tests run on: both in `npm run test:long`, in `npm test` the
 * one that is asked for, where it can be had.
 */
export function storeKinds(short: StoreKind): readonly StoreKind[] {
  if (!hasPostgres()) return ["sqlite"];
  return isLong ? ["sqlite", "postgres"] : [short];
}

/** Where a stack of this kind keeps its store; `stop` forgets it. */
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

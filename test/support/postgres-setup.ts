import { randomBytes } from "node:crypto";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { openStore } from "../../src/store/open.ts";
import { clusterIn, removeServerFolder, serverFolder, stopOrphans } from "./orphans.ts";
import { type Databases, databasesOf } from "./postgres-databases.ts";
import { findPrograms, unprivilegedUser } from "./postgres-programs.ts";
import { PostgresServer } from "./postgres-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Set if the project's stores are in PostgreSQL. */
    postgres?: {
      /** Address of a database on the shared server, from which others are created. */
      readonly adminUrl: string;
      /** A database with an empty store. */
      readonly template: string;
    };
  }
}

/**
 * Provides one server for all stores of a test run, with an empty store that is copied for each
 * test.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { adminUrl, stop } = await findServer();
  const databases = databasesOf(adminUrl);
  const template = `payrun_test_${randomBytes(6).toString("hex")}`;
  try {
    await fill(databases, template);
  } catch (error) {
    await stop();
    throw error;
  }
  project.provide("postgres", { adminUrl, template });
  return async () => {
    await databases.drop(template);
    await stop();
  };
}

async function fill(databases: Databases, template: string): Promise<void> {
  await databases.create(template);
  const store = await openStore(databases.urlOf(template));
  await store.close();
}

/** Returns the server that the environment names, otherwise one of our own. */
export async function findServer(): Promise<{ adminUrl: string; stop: () => Promise<void> }> {
  const url = process.env["PAYRUN_TEST_POSTGRES_URL"];
  if (url !== undefined && url !== "") return { adminUrl: url, stop: async () => undefined };
  const { server, stop } = await startServer();
  return { adminUrl: server.urlOf("postgres"), stop };
}

/** Starts a server of our own, from an installation or a package. */
export async function startServer(): Promise<{
  readonly server: PostgresServer;
  readonly stop: () => Promise<void>;
}> {
  await stopOrphans();
  const folder = await serverFolder();
  const remove = () => removeServerFolder(folder);
  try {
    // The server may run as another user.
    await chmod(folder, 0o755);
    const programs = await findPrograms(join(folder, "native"));
    if (programs === undefined) throw new Error("there is no PostgreSQL to start");
    const user = await unprivilegedUser();
    const server = await PostgresServer.make(programs, user, clusterIn(folder));
    const stop = async () => {
      await server.stop().catch(() => undefined);
      await remove();
    };
    return { server, stop };
  } catch (error) {
    await remove();
    throw error;
  }
}

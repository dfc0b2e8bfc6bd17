import { execFile } from "node:child_process";
import { chown, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "./free-port.ts";
import type { PostgresPrograms, ServerUser } from "./postgres-programs.ts";

const run = promisify(execFile);

const SUPERUSER = "tests";
const PASSWORD = "p@ss word";

/** A PostgreSQL server in a folder of its own, which can be stopped and started again. */
export class PostgresServer {
  readonly #programs: PostgresPrograms;
  readonly #user: ServerUser | undefined;
  readonly #folder: string;
  readonly port: number;

  constructor(of: {
    readonly programs: PostgresPrograms;
    readonly user: ServerUser | undefined;
    readonly folder: string;
    readonly port: number;
  }) {
    this.#programs = of.programs;
    this.#user = of.user;
    this.#folder = of.folder;
    this.port = of.port;
  }

  /** Creates a cluster in an empty folder, and starts its server. */
  static async make(
    programs: PostgresPrograms,
    user: ServerUser | undefined,
    folder: string,
  ): Promise<PostgresServer> {
    const server = new PostgresServer({ programs, user, folder, port: await freePort() });
    await mkdir(folder, { recursive: true });
    const passwordFile = join(folder, "password");
    await writeFile(passwordFile, PASSWORD);
    if (user !== undefined) {
      await chown(folder, user.uid, user.gid);
      await chown(passwordFile, user.uid, user.gid);
    }
    await server.#run("initdb", [
      ...["-D", server.#data, "-U", SUPERUSER, "--pwfile", passwordFile, "-E", "UTF8"],
      ...["--locale", "C", "--no-sync", "--auth=scram-sha-256"],
    ]);
    const settings = [
      `port = ${server.port}`,
      "listen_addresses = '127.0.0.1'",
      "unix_socket_directories = ''",
      "max_connections = 200",
      "shared_buffers = 32MB",
      // Tests don't test power cuts.
      "fsync = off",
      "full_page_writes = off",
      "max_wal_size = 128MB",
    ];
    await writeFile(join(server.#data, "postgresql.auto.conf"), `${settings.join("\n")}\n`);
    await server.start();
    return server;
  }

  get #data(): string {
    return join(this.#folder, "data");
  }

  urlOf(database: string): string {
    const password = encodeURIComponent(PASSWORD);
    return `postgres://${SUPERUSER}:${password}@127.0.0.1:${this.port}/${database}`;
  }

  async start(): Promise<void> {
    const log = join(this.#folder, "server.log");
    await this.#run("pg_ctl", ["start", "-D", this.#data, "-w", "-t", "60", "-l", log]);
  }

  /** @param mode `immediate` is a crash, after which the server recovers */
  async stop(mode: "fast" | "immediate" = "immediate"): Promise<void> {
    await this.#run("pg_ctl", ["stop", "-D", this.#data, "-w", "-m", mode]);
  }

  async #run(program: string, args: readonly string[]): Promise<void> {
    // The server inherits standard streams: a pipe would not end before it does.
    await run(join(this.#programs.folder, program), args, {
      cwd: this.#folder,
      ...this.#user,
      env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C" },
      timeout: 90_000,
    });
  }
}

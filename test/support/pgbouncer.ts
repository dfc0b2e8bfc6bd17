import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { freePort } from "./free-port.ts";
import { isProgram, unprivilegedUser } from "./postgres-programs.ts";
import { until } from "./waits.ts";

/** Returns an installed PgBouncer, if there is one. */
export function findPgBouncer(): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];
  return folders.map((folder) => join(folder, "pgbouncer")).find(isProgram);
}

/** A PgBouncer in front of a test server, which lets anyone in as the server's user. */
export interface PgBouncer {
  /** Returns the address of a server's database through it. */
  urlOf(url: string): string;
  stop(): Promise<void>;
}

export async function startPgBouncer(
  program: string,
  serverUrl: string,
  mode: "session" | "transaction",
): Promise<PgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), "payrun-pgbouncer-"));
  const user = await unprivilegedUser();
  const port = await freePort();
  const file = join(folder, "pgbouncer.ini");
  await writeFile(file, settings(new URL(serverUrl), port, mode));
  await chmod(folder, 0o755);
  const child = spawn(program, [file], { ...user, stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (bytes: Buffer) => (log += bytes.toString()));
  await until(
    () => answers(port),
    (isThere) => isThere || child.exitCode !== null,
    { failure: () => log },
  );
  if (child.exitCode !== null) throw new Error(log);
  return {
    urlOf(url) {
      const through = new URL(url);
      through.port = String(port);
      return through.href;
    },
    async stop() {
      await ended(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function settings(server: URL, port: number, mode: string): string {
  const { hostname, username } = server;
  const password = decodeURIComponent(server.password);
  return [
    "[databases]",
    `* = host=${hostname} port=${server.port || 5432} user=${username} password='${password}'`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    `pool_mode = ${mode}`,
    "",
  ].join("\n");
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const say = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once("connect", () => say(true));
    socket.once("error", () => say(false));
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGQUIT");
  await once(child, "exit");
}

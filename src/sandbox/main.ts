import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { fixtureNames, namedFixture } from "./fixtures/named.ts";
import { startService } from "./server.ts";

const help = `The Payments Service as a simulation on this machine: no real money.

  node src/sandbox/main.ts --data-dir DIR [options]

  --data-dir DIR       where its state is kept; a second start goes on from there
  --port N             0 takes a free one (default 8089)
  --host H             (default 127.0.0.1)
  --fixture NAME       what a new data directory starts with: ${fixtureNames.join(", ")}
                       (default blank)
  --exit-with-parent   exit when standard input is closed
`;

function readArguments(): {
  dataDir: string;
  port: number;
  host: string;
  fixture: string;
  exitWithParent: boolean;
} {
  const { values } = parseArgs({
    options: {
      "data-dir": { type: "string" },
      port: { type: "string", default: "8089" },
      host: { type: "string", default: "127.0.0.1" },
      fixture: { type: "string", default: "blank" },
      "exit-with-parent": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    process.exit(0);
  }
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`--port must be 0 to 65535; got "${values.port}"`);
  }
  if (values["data-dir"] === undefined) throw new Error("--data-dir is required");
  if (namedFixture(values.fixture, Date.now()) === undefined) {
    throw new Error(`--fixture must be one of ${fixtureNames.join(", ")}; got "${values.fixture}"`);
  }
  return {
    dataDir: resolve(values["data-dir"]),
    port,
    host: values.host,
    fixture: values.fixture,
    exitWithParent: values["exit-with-parent"],
  };
}

async function main(): Promise<void> {
  const options = readArguments();
  mkdirSync(options.dataDir, { recursive: true });
  const service = await startService(options);
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    void service.stop().then(() => process.exit(0));
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  if (options.exitWithParent) process.stdin.resume().once("close", stop).once("end", stop);
  const fixture = service.hadState ? undefined : namedFixture(options.fixture, Date.now());
  const { resetting } = service;
  const businesses = await (fixture === undefined
    ? resetting.businesses()
    : resetting.reset(fixture));
  process.stdout.write(`${JSON.stringify({ ready: true, url: service.url, businesses })}\n`);
}

function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (message.includes("EADDRINUSE")) return `${message}; choose another port with --port`;
  if (message.includes("database is locked")) return "another sandbox uses this data directory";
  return message;
}

main().catch((error: unknown) => {
  process.stderr.write(`sandbox: ${explain(error)}\n`);
  process.exit(2);
});

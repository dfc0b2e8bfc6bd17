import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import type { FixtureObject } from "./fixtures/fixture-object.ts";
import { fixtureNames, fixtureRequest, namedFixture, requestedFixture } from "./fixtures/named.ts";
import { startService } from "./server.ts";

const help = `The Payments Service as a simulation on this machine: no real money.

  node src/sandbox/main.ts --data-dir DIR [options]

  --data-dir DIR       where its state is kept; a second start goes on from there
  --port N             0 takes a free one (default 8089)
  --host H             (default 127.0.0.1)
  --fixture NAME|FILE  what a new data directory starts with: ${fixtureNames.join(", ")},
                       or a file with the object that POST /sandbox/reset takes (default blank)
  --exit-with-parent   exit when standard input is closed
`;

function readArguments(): {
  dataDir: string;
  port: number;
  host: string;
  fixture: FixtureObject;
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
  return {
    dataDir: resolve(values["data-dir"]),
    port,
    host: values.host,
    fixture: readFixture(values.fixture),
    exitWithParent: values["exit-with-parent"],
  };
}

/** Returns the fixture of that name, or the one that a JSON or YAML file holds. */
function readFixture(nameOrFile: string): FixtureObject {
  const named = namedFixture(nameOrFile, Date.now());
  if (named !== undefined) return named;
  if (!existsSync(nameOrFile)) {
    const names = fixtureNames.join(", ");
    throw new Error(`--fixture must be one of ${names}, or a file; got "${nameOrFile}"`);
  }
  const read = fixtureRequest.safeParse(parse(readFileSync(nameOrFile, "utf8")));
  const fixture = read.success ? requestedFixture(read.data, Date.now()) : undefined;
  if (fixture !== undefined) return fixture;
  const why = read.error?.issues.map(({ path, message }) => `${path.join(".")} ${message}`) ?? [];
  throw new Error(`${nameOrFile} is no fixture: ${why.join("; ") || "nothing has that name"}`);
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
  const { resetting, hadState } = service;
  const businesses = await (hadState ? resetting.businesses() : resetting.reset(options.fixture));
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

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

const ROOT = join(import.meta.dirname, "../..");

/** Statuses of refusals, whose codes the client knows. */
type RefusedStatus = 400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 429 | 500 | 502 | 503 | 504;

interface Refused {
  readonly status: RefusedStatus;
  readonly data: { readonly error: string; readonly message: string };
}

type Answer<Status extends number, Data> =
  | Refused
  | { readonly status: Status; readonly data: Data };

/** What every kind of workflow says of itself. */
interface Status {
  readonly id: string;
  readonly kind: string;
  readonly phase: string;
  readonly planHash: string | null;
  readonly payments: readonly { readonly payableId?: string | null; readonly state?: string }[];
}

interface Report {
  readonly phase: string;
  readonly settledCents: number;
}

/** The operations of a generated client that drive a run. */
export interface RunClient {
  launchRun(
    body: { playbook: string; period?: string },
    init?: RequestInit,
  ): Promise<Answer<200 | 201, Status>>;
  getRun(
    id: string,
    query?: { skipped?: boolean },
    init?: RequestInit,
  ): Promise<Answer<200, Status>>;
  decideRun(
    id: string,
    body: { decision?: "approve" | "reject"; planHash?: string },
    init?: RequestInit,
  ): Promise<Answer<200, { readonly accepted: true; readonly countsForCount: number }>>;
  getRunReport(
    id: string,
    query?: { format?: "json" | "csv" },
    init?: RequestInit,
  ): Promise<Answer<200, Report | string>>;
  listRuns(
    query?: { kind?: "pay-run"; playbook?: string; needsAction?: boolean; pageSize?: number },
    init?: RequestInit,
  ): Promise<
    Answer<
      200,
      { readonly items: readonly { readonly id: string }[]; readonly nextPage: number | null }
    >
  >;
}

/** Compiles only if the client has the operations, and if codes and kinds are known as types. */
const USE = `import * as client from "./client.ts";
import type { RunClient } from "${join(import.meta.dirname, "generated-client.ts")}";

export const typed: RunClient = client;

export const known: client.Error409Error = "stale_plan";
// @ts-expect-error no code is spelled like this
export const unknown: client.Error409Error = "stale-plan";

export async function statesOf(id: string): Promise<readonly string[]> {
  const { status, data } = await client.getRun(id);
  if (status !== 200 || data.kind !== "pay-run") return [];
  return [data.plan?.source?.sourceId ?? "none", ...data.payments.map(({ state }) => state)];
}
`;

const SETTINGS = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: "es2024",
    lib: ["es2024", "dom", "dom.iterable"],
    module: "esnext",
    moduleResolution: "bundler",
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: ["node"],
    typeRoots: [join(ROOT, "node_modules/@types")],
  },
  files: ["use.ts"],
};

/** Generates a client from an OpenAPI document, checks its types, and loads it. */
export async function generatedClient(document: object): Promise<RunClient> {
  const folder = await mkdtemp(join(tmpdir(), "payrun-client-"));
  const [description, client] = [join(folder, "openapi.json"), join(folder, "client.ts")];
  try {
    await writeFile(description, JSON.stringify(document));
    await writeFile(join(folder, "use.ts"), USE);
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(SETTINGS));
    const generator = join(ROOT, "test/e2e/children/generate-client.ts");
    await run(process.execPath, [generator, description, client], { cwd: ROOT });
    const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
    await run(process.execPath, [compiler, "--project", folder], { cwd: folder }).catch(
      (error: unknown) => {
        const said = error instanceof Error && "stdout" in error ? String(error.stdout) : "";
        throw new Error(`the generated client doesn't compile:\n${said}`, { cause: error });
      },
    );
    return (await import(pathToFileURL(client).href)) as RunClient;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

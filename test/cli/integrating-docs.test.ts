import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Report } from "../../src/api/report.ts";
import type { RunStatus } from "../../src/api/runs.ts";
import { blocksOf, commandsOf } from "../support/docs.ts";
import { freePort } from "../support/free-port.ts";
import { type LedgerEntry, netCreditByPayable } from "../support/sandbox/ledger.ts";
import { machineEnv } from "../support/machine-env.ts";
import { hasAll } from "../support/page-programs.ts";
import { until } from "../support/waits.ts";
import { temporaryFolder } from "./cli.ts";
import { shellBeginning } from "./page-shell.ts";
import { stackSettings } from "./stack.ts";
import { startUp } from "./start-up.ts";

const PAGE = "docs/integrating.md";
const blocks = blocksOf("docs/integrating.md", ["sh", "python"]);

const hasPrograms = hasAll(["curl", "bash", "OpenSSL 3"], `the blocks of ${PAGE}`);
const hasPython = hasAll(["Python 3.9"], `the Python blocks of ${PAGE}`);

/** One shell in which a reader types the blocks of a page, one after another. */
class PageShell {
  readonly #child: ChildProcessWithoutNullStreams;
  #said = "";
  #blocks = 0;

  constructor(cwd: string, env: Readonly<Record<string, string>>) {
    // A process group of its own, so that what the page starts behind it ends with it.
    this.#child = spawn("bash", ["--norc"], { cwd, env, detached: true });
    const { pid } = this.#child;
    if (pid === undefined) throw new Error("bash doesn't start");
    onTestFinished(() => void process.kill(-pid, "SIGKILL"));
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.on("data", (chunk: Buffer) => (this.#said += chunk.toString()));
    }
    this.#child.stdin.write(
      `${shellBeginning()}set -o pipefail -o errtrace\ntrap 'failed="$BASH_COMMAND"' ERR\n`,
    );
  }

  /** @returns what the block printed. @throws if one of its commands failed */
  async type(block: string): Promise<string> {
    const from = this.#said.length;
    const end = `end of block ${(this.#blocks += 1)}`;
    this.#child.stdin.write(`failed=\n${block}\nprintf '\\n%s[%s]\\n' '${end}' "$failed"\n`);
    const said = await until(
      () => this.#said.slice(from),
      (text) => text.includes(`${end}[`),
      { timeoutMs: 600_000, failure: (text) => `${block}\nhasn't ended: ${text}` },
    );
    const [printed = "", rest = ""] = said.split(`\n${end}[`);
    const failed = rest.slice(0, rest.lastIndexOf("]"));
    if (failed !== "") throw new Error(`${block}\nfailed: ${failed}\n${printed}`);
    return printed;
  }
}

/** Returns what a shell is told for a block: Python files are saved, and others run. */
function typedAs({ language, text }: { language: string; text: string }): string {
  if (language === "sh") return text;
  const [, file] = /^# (\w+\.py)\n/.exec(text) ?? [];
  return `${file === undefined ? "python3 -" : `cat > ${file}`} <<'PYTHON'\n${text}PYTHON\n`;
}

/** What differs here from a reader's machine: ports, and the folder of Temporal's command line. */
interface Here {
  readonly cwd: string;
  readonly sandbox: string;
  readonly shell: PageShell;
  readonly filledIn: (text: string) => string;
}

async function stackBesidePage(): Promise<Here> {
  const cwd = temporaryFolder();
  const home = join(cwd, ".payrun");
  const settings = await stackSettings(home);
  const { said } = await startUp(cwd, settings, "--json");
  const ready = JSON.parse(/^\{[^]*^\}/m.exec(said())?.[0] ?? "{}") as Record<string, string>;
  const { gateway = "", temporal = "", sandbox = "" } = ready;
  const places = {
    "http://127.0.0.1:8088": gateway,
    "127.0.0.1:7233": temporal,
    "9000": String(await freePort()),
  };
  const { TEMPORAL_CLI = "", PATH = "" } = settings;
  const path = [PATH, dirname(TEMPORAL_CLI)].join(delimiter);
  const env = { ...machineEnv(), PATH: path, NO_PROXY: "*" };
  const filledIn = (text: string) =>
    Object.entries(places).reduce((all, [shown, real]) => all.replaceAll(shown, real), text);
  return { cwd, sandbox, filledIn, shell: new PageShell(cwd, env) };
}

describe.runIf(hasPrograms)("the page for those who integrate another system", () => {
  test(
    "its blocks, in order, launch a run, approve it in three ways, follow it, and find the books and the bank agreed",
    { timeout: 1_200_000 },
    async () => {
      const here = await stackBesidePage();
      expect(commandsOf("docs/integrating.md")[0]).toBe("payrun up");
      const said: string[] = [];
      for (const block of blocks) {
        const typed = typedAs(block);
        const isLeftOut = typed === "payrun up\n" || (!hasPython && typed.includes("python3"));
        said.push(isLeftOut ? "" : await here.shell.type(here.filledIn(typed)));
      }
      /** What the first block with these words printed. */
      const printed = (words: string, language = "sh") =>
        said[blocks.findIndex((each) => each.language === language && each.text.includes(words))];

      const launched = printed('"playbook\\":\\"rent');
      expect(launched).toMatch(/^HTTP\/1\.1 201 /m);
      expect(launched).toMatch(/^x-request-id: erp-rent-\d{4}-\d\d-\d\d\r?$/m);
      expect(printed("cora-$KEY")).toContain('"accepted":true');
      expect(printed("sign treasury")).toContain('"accepted":true');
      expect(printed("workflow update execute")).toMatch(/"?accepted"?:\s*true/);
      expect(printed("no-such-playbook")).toMatch(/"error":"not_found".*\n404/);

      const status = JSON.parse(await here.shell.type("status")) as RunStatus;
      expect(status).toMatchObject({ phase: "completed", isFinal: true });
      const bills = status.payments.filter(({ state }) => state !== "skipped");
      for (const { approvedBy } of bills) {
        expect(approvedBy.toSorted()).toEqual(["archive", "cora", "treasury"]);
      }
      expect(printed("--etag-save")).toBe("200\n304\n");
      expect(JSON.parse(printed("--data kind=pay-run") ?? "")).toMatchObject({
        ...{ totalCount: 1, nextPage: null },
        items: [{ id: status.id, phase: "completed", isFinal: true }],
      });
      const read = (file: string) => readFileSync(join(here.cwd, file), "utf8");
      const report = JSON.parse(read("report.json")) as Report;
      expect(report.settledCents).toBe(status.totalCents);
      expect(report.settledBills).toBe(bills.length);
      const [head = "", ...rows] = read("bank.csv").trim().split(/\r?\n/);
      expect(head).toContain("amount_usd");
      expect(rows).toHaveLength(report.settledBills);
      const ledger = await fetch(`${here.sandbox}/sandbox/ledger`);
      const { items } = (await ledger.json()) as { items: LedgerEntry[] };
      const paid = netCreditByPayable(items);
      for (const { payableId, amountCents } of bills) {
        expect([payableId, paid.get(payableId)]).toEqual([payableId, amountCents]);
      }
      if (!hasPython) return;
      expect(printed('"/v1/runs", os.environ', "python")).toBe(`201 ${status.id}\n`);
      expect(printed('"cora-"', "python")).toMatch(/^200 /);
      expect(printed('sign("treasury"', "python")).toMatch(/^200 .*a third person/);
      expect(printed('run["isFinal"]', "python")).toMatch(/^completed /m);
      expect(printed('listed["nextPage"]', "python")).toBe(
        `${status.id} completed ${status.launchedAt} ${status.endedAt}\n`,
      );
      expect(printed("Refused, call", "python")).toBe("404 not_found\n");
      expect(printed("csv.DictReader", "python")).toBe(
        `${rows.length} rows: ${report.settledCents}.00 cents left, and ${report.settledCents} arrived\n`,
      );
      const notices = await until(
        () => read("notices.log"),
        (text) => text.includes("payrun.run_completed"),
      );
      expect(notices).toContain(`payrun.approval_needed ${status.id}`);
    },
  );
});

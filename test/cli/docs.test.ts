import { execFile } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test, vi } from "vitest";
import type { RunReview } from "../../src/api/review.ts";
import type { DryPlanAnswer, RunStatus } from "../../src/api/runs.ts";
import { commandsOf, pages, pageText } from "../support/docs.ts";
import { isLong } from "../support/long.ts";
import { temporaryFolder } from "./cli.ts";
import { shellBeginning } from "./page-shell.ts";
import { stackSettings } from "./stack.ts";
import { startUp } from "./start-up.ts";

const run = promisify(execFile);
const PLAYBOOKS = fileURLToPath(new URL("../../playbooks", import.meta.url));

/** Pages whose commands need something that `up` doesn't have, and the tests that run them. */
const NOT_ON_UP: Readonly<Record<string, string>> = {
  // The first administrators of a real service: a sandbox has its local administrator.
  "docs/people.md": "test/cli/people-docs.test.ts",
  // Its blocks are run as a whole, on an `up` of their own.
  "docs/integrating.md": "test/cli/integrating-docs.test.ts",
};

/** Single commands that can't run on `up`. */
const NOT_HERE: readonly RegExp[] = [
  // Needs a PostgreSQL server; test/e2e/first-steps.test.ts copies a store as the page says.
  /store copy/,
  // Only an undelivered notice can be sent again; test/e2e/notices.test.ts has one.
  /notices --retry/,
];

/** The commands that need --yes if they don't run at a terminal. */
const ASKS =
  /payrun (?:approve|reject|stop|release --all|resolve|provide \S+ (?:signature|certification))\b(?!.*--yes)/;

const SHELL = shellBeginning();

/** A folder beside a running `up`, in which the commands of the pages are run. */
class Desk {
  readonly cwd: string;
  readonly home: string;
  readonly typedOf = new Map<string, number>();
  readonly #gateway: string;
  readonly #sandbox: string;

  constructor(cwd: string, home: string, said: string) {
    const addressOf = (part: string) => new RegExp(`${part} +(http:\\S+)`).exec(said)?.[1] ?? "";
    this.cwd = cwd;
    this.home = home;
    this.#gateway = addressOf("Gateway");
    this.#sandbox = addressOf("Sandbox");
  }

  /** Runs a line in a shell like a reader's. @throws if it doesn't exit with 0. */
  async type(line: string, as: "local-admin" | "approver" = "local-admin"): Promise<string> {
    const { PATH = "" } = process.env;
    const token =
      as === "approver"
        ? { PAYRUN_TOKEN: readFileSync(join(this.home, "people/approver.token"), "utf8").trim() }
        : {};
    const env = { PATH, HOME: this.cwd, PAYRUN_HOME: this.home, ...token };
    const whole = ASKS.test(line) ? line.replace(/(\s+#.*)?$/, " --yes") : line;
    try {
      const { stdout } = await run("bash", ["-c", SHELL + whole], { cwd: this.cwd, env });
      return stdout;
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      throw new Error(`${whole}\nexit ${code}\n${stdout}\n${stderr}`, { cause: error });
    }
  }

  async json<T>(line: string): Promise<T> {
    return JSON.parse(await this.type(`payrun ${line} --json`)) as T;
  }

  /** Runs a page's commands one after another, with the placeholders in `values` filled in. */
  async page(
    page: string,
    values: Readonly<Record<string, string>> = {},
    { as = "local-admin", before }: Typing = {},
  ): Promise<void> {
    const commands = commandsOf(page);
    const from = this.typedOf.get(page) ?? 0;
    for (const [index, command] of commands.entries()) {
      if (index < from) continue;
      const missing = await before?.(command);
      if (missing === "stop") return;
      this.typedOf.set(page, index + 1);
      if (NOT_HERE.some((each) => each.test(command))) continue;
      await this.type(filledIn(command, { ...values, ...missing }), as);
    }
  }

  async control(path: string, body: object): Promise<void> {
    const init = { method: "POST", headers: { "content-type": "application/json" } };
    const answer = await fetch(`${this.#sandbox}/sandbox/${path}`, {
      ...init,
      body: JSON.stringify(body),
    });
    expect(answer.ok, path).toBe(true);
  }

  /** Reads from the gateway directly: the waits of a test are not commands of a page. */
  async read<T>(path: string): Promise<T> {
    const token = readFileSync(join(this.home, "admin.token"), "utf8").trim();
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${this.#gateway}/v1/${path}`, { headers });
    expect(answer.ok, path).toBe(true);
    return (await answer.json()) as T;
  }

  /** Waits until the newest run of a playbook fulfills a condition. @returns the run's status. */
  async until(playbook: string, is: (status: RunStatus) => boolean): Promise<RunStatus> {
    return vi.waitFor(
      async () => {
        const { items } = await this.read<{ items: Listed[] }>("runs");
        const id = items.find((each) => each.playbook === playbook)?.id ?? "";
        const status = await this.read<RunStatus>(`runs/${encodeURIComponent(id)}`);
        expect(is(status), `${id}: ${status.phase}, ${status.waitingFor ?? ""}`).toBe(true);
        return status;
      },
      { timeout: 240_000, interval: 500 },
    );
  }
}

interface Listed {
  readonly id: string;
  readonly kind: string;
  readonly playbook: string;
}

interface Typing {
  readonly as?: "local-admin" | "approver";
  /** Returns values for a command's placeholders just before it runs; `stop` ends before it. */
  readonly before?: (
    command: string,
  ) => Promise<Readonly<Record<string, string>> | "stop" | undefined>;
}

/** Fills in a command's placeholders and keeps its optional parts, without their brackets. */
function filledIn(command: string, values: Readonly<Record<string, string>>): string {
  const whole = command.replace(/\s\[([^\]]*)\]/g, " $1");
  return Object.entries(values)
    .toSorted(([one], [other]) => other.length - one.length)
    .reduce((text, [name, value]) => text.replaceAll(name, value), whole);
}

test("the commands of every page are run on `up`, or by another test that is named here", () => {
  const showing = pages().filter((page) => commandsOf(page).length > 0);
  expect(showing.toSorted()).toEqual([...TYPED, ...Object.keys(NOT_ON_UP)].toSorted());
  for (const [page, file] of Object.entries(NOT_ON_UP)) {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
    expect(text).toContain(`commandsOf("${page}")`);
  }
});

const TYPED = [
  "README.md",
  "docs/audit.md",
  "docs/cancel-scheduled.md",
  "docs/hold.md",
  "docs/kyb-onboarding.md",
  "docs/notices.md",
  "docs/off-cycle.md",
  "docs/retry-failed.md",
  "docs/top-up.md",
];

describe("commands of README and docs on `up`", () => {
  test.runIf(isLong)(
    "the commands of README and docs work with the sample company, word for word",
    { timeout: 1_200_000 },
    async () => {
      const desk = await deskBeside("sample");
      await offCycle(desk);
      await cancelScheduled(desk);
      await firstPlaybook(desk);
      await bounced(desk);
      await desk.page("docs/hold.md");
      await topUp(desk);
      await afterwards(desk);
      allTyped(
        desk,
        TYPED.filter((page) => page !== "docs/kyb-onboarding.md"),
      );
    },
  );

  test.runIf(isLong)(
    "the commands for onboarding work with an unverified business, word for word",
    { timeout: 600_000 },
    async () => {
      const desk = await deskBeside("unverified");
      await onboarding(desk);
      allTyped(desk, ["docs/kyb-onboarding.md"]);
    },
  );
});

function allTyped(desk: Desk, these: readonly string[]): void {
  for (const page of these)
    expect([page, desk.typedOf.get(page)]).toEqual([page, commandsOf(page).length]);
}

async function deskBeside(fixture: string): Promise<Desk> {
  const cwd = temporaryFolder();
  const home = join(cwd, ".payrun");
  cpSync(PLAYBOOKS, join(cwd, "playbooks"), { recursive: true });
  const { said } = await startUp(cwd, await stackSettings(home), "--fixture", fixture);
  return new Desk(cwd, home, said());
}

/** Returns what an example playbook would pay now. */
function planned(desk: Desk, playbook: string): Promise<DryPlanAnswer> {
  return desk.json<DryPlanAnswer>(`plan playbooks/${playbook}.yaml`);
}

/** Returns the bills without a flag that the weekly playbook would pay. */
async function plannedBills(desk: Desk): Promise<string[]> {
  const { lines } = await planned(desk, "weekly-vendors");
  return lines.filter(({ flags }) => flags.length === 0).map(({ payableId }) => payableId);
}

async function offCycle(desk: Desk): Promise<void> {
  await desk.type("payrun apply playbooks/weekly-vendors.yaml");
  const [PAYABLE = "", OTHER = ""] = await plannedBills(desk);
  await desk.page("docs/off-cycle.md", { $PAYABLE: PAYABLE, $OTHER: OTHER });
}

async function cancelScheduled(desk: Desk): Promise<void> {
  const { id } = await desk.until("weekly-vendors", ({ phase }) => phase === "awaiting-approval");
  await desk.type(`payrun approve ${id}`, "approver");
  const isScheduled = ({ counts }: RunStatus) => (counts.scheduled ?? 0) > 0;
  const { payments } = await desk.until("weekly-vendors", isScheduled);
  const payment = payments.flatMap(({ paymentIds }) => paymentIds)[0] ?? "";
  await desk.page(
    "docs/cancel-scheduled.md",
    { PAYMENT_ID: payment, "--by NAME": "--by local-admin" },
    {
      before: async (command) => {
        if (command.includes("CANCELLATION_ID")) {
          const all = await desk.read<{ items: Listed[] }>("runs");
          const made = all.items.find(({ kind }) => kind === "cancel-scheduled");
          return { CANCELLATION_ID: made?.id ?? "" };
        }
        if (!command.includes("HOLD_ID")) return undefined;
        const holds = await desk.read<{ items: { id: string }[] }>("holds");
        return { HOLD_ID: holds.items[0]?.id ?? "" };
      },
    },
  );
}

async function firstPlaybook(desk: Desk): Promise<void> {
  const [heredoc = ""] =
    /^cat > rent\.yaml <<'YAML'\n[\s\S]*?^YAML\n/m.exec(pageText("README.md")) ?? [];
  await desk.type(heredoc);
  await desk.page(
    "README.md",
    {},
    {
      before: async (command) => {
        if (command.includes(" approve ")) {
          await desk.until("rent", ({ phase }) => phase === "awaiting-approval");
        }
        if (command.includes(" watch ")) await desk.control("clock", { scale: 43_200 });
        return undefined;
      },
    },
  );
  const { counts } = await desk.until("rent", ({ phase }) => phase === "completed");
  expect(counts.settled).toBeGreaterThan(0);
  await desk.control("clock", { scale: 1 });
}

/** Makes a run whose payments bounce, so that there is an incident to decide about. */
async function bounced(desk: Desk): Promise<void> {
  await desk.page("docs/retry-failed.md", {}, { before: stopAt("payrun incident") });
  for (const payableId of await plannedBills(desk)) {
    const fails = { outcome: "fail", code: "R01", times: 1 };
    await desk.control("outcomes", { match: { payableId }, ...fails });
  }
  await desk.type("payrun launch weekly-vendors");
  await desk.until("weekly-vendors", ({ phase }) => phase === "awaiting-approval");
  await desk.type("payrun approve weekly-vendors", "approver");
  await desk.until("weekly-vendors", ({ counts }) => (counts.scheduled ?? 0) > 0);
  await desk.control("clock", { scale: 43_200 });
  await vi.waitFor(
    async () => {
      const { items } = await desk.read<{ items: { phase: string }[] }>("incidents");
      expect(items.map(({ phase }) => phase)).toContain("open");
    },
    { timeout: 240_000, interval: 500 },
  );
  await desk.page("docs/retry-failed.md");
  await desk.control("clock", { scale: 1 });
}

function stopAt(beginning: string): NonNullable<Typing["before"]> {
  return (command) => Promise.resolve(command.startsWith(beginning) ? "stop" : undefined);
}

async function topUp(desk: Desk): Promise<void> {
  const profile = join(desk.home, "sandbox-profiles.yaml");
  const text = readFileSync(profile, "utf8");
  writeFileSync(profile, text.replace("# achAuthorization:", "achAuthorization:"));
  const businessId = readFileSync(join(desk.home, "sandbox-profile/business-id"), "utf8").trim();
  // At least one bill is due soon, and a little money is missing for all that are and for what is
  // promised already: the playbook limits its deposits, and the day that has come, and with it what
  // else is under way, depends on this machine's speed.
  const { id, now } = await desk.until("rent", ({ phase }) => phase === "completed");
  const { bills } = await desk.read<RunReview>(`runs/${encodeURIComponent(id)}/review`);
  const dueDate = new Date(Date.parse(now ?? "") + 10 * 86_400_000).toISOString().slice(0, 10);
  const bill = { contactId: bills[0]?.contactId, totalAmountCents: 123_400, dueDate };
  await desk.control("payables", { businessId, status: "approved", ...bill });
  const plentyCents = 1_000_000_00;
  await desk.control(`businesses/${businessId}`, { balanceCents: plentyCents });
  const { cash } = await planned(desk, "paid-from-balance");
  const leftCents = cash.at(-1)?.leftCents ?? 0;
  expect(leftCents).toBeGreaterThan(0);
  await desk.control(`businesses/${businessId}`, {
    balanceCents: plentyCents - leftCents - 10_000,
  });
  await desk.page(
    "docs/top-up.md",
    { $RUN: "paid-from-balance" },
    { before: stopAt('payrun status "$RUN"') },
  );
  await desk.type("payrun launch paid-from-balance");
  await desk.until("paid-from-balance", ({ topUps = [] }) => topUps.length > 0);
  await desk.page("docs/top-up.md", { $RUN: "paid-from-balance" }, { as: "approver" });
}

/** Runs the pages that read the results of the earlier ones. */
async function afterwards(desk: Desk): Promise<void> {
  const { id, payments } = await desk.until("rent", ({ phase }) => phase === "completed");
  const settled = payments.find(({ state }) => state === "settled")?.payableId ?? "";
  await desk.page("docs/notices.md", { RUN_ID: id });
  const verified = await desk.type("payrun audit verify");
  const head = /its end is ([0-9a-f]{64})/.exec(verified)?.[1] ?? "";
  const values = {
    NAME: "sandbox",
    HASH: head,
    RUN: "rent",
    FILE: "part.jsonl",
    PAYABLE_ID: settled,
  };
  await desk.page("docs/audit.md", { ...values, DATE: "2026-01-05" });
}

async function onboarding(desk: Desk): Promise<void> {
  const text = pageText("docs/kyb-onboarding.md");
  const [, playbook = ""] = /```yaml\n([\s\S]*?)```/.exec(text) ?? [];
  writeFileSync(join(desk.cwd, "kyb-onboarding.yaml"), playbook.replace("acme", "sandbox"));
  for (const [, name = "", body = ""] of text.matchAll(
    /^\*\*(\w+\.json)\*\*[^\n]*\n```json\n([\s\S]*?)```/gm,
  )) {
    writeFileSync(join(desk.cwd, name), body);
  }
  await desk.page("docs/kyb-onboarding.md", { acme: "sandbox" });
}

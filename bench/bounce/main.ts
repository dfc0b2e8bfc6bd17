import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { z } from "zod";
import { findTemporalCli } from "../../scripts/setup/temporal-cli.mjs";
import { environmentWith, loadConfig } from "../../src/config.ts";
import { Processes } from "../../src/cli/parts/processes.ts";
import { chooseAddresses, type StackOptions, startStack } from "../../src/cli/parts/stack.ts";
import { Company } from "./company.ts";
import { wholeNumber } from "../../test/support/arguments.ts";
import { Gateway } from "../gateway.ts";
import { median } from "../medians.ts";
import { probe, type Waits } from "./probes.ts";

const playbook = (name: string): string => `kind: pay-run
select: { due: all }
where: 'payable.description == "${name}"'
pay: { on: next-business-day }
review: []
approve:
  - { by: [controller, owner] }
late: next-business-day
`;

const QUIET_MS = 30_000;
const LOOK_EVERY_MS = 500;
/** Reading thousands of payments is work for the service, and other requests would wait for it. */
const COUNT_EVERY_MS = 5_000;
/** Number of payments that probes may cancel, one a round; the more bills, the more rounds. */
const toCancel = (bills: number): number => 100 + Math.ceil(bills / 3);

const incidentsShape = z.object({
  items: z.array(z.object({ source: z.string(), phase: z.string(), bills: z.int() })),
});
const runShape = z.object({
  planHash: z.string().nullable(),
  counts: z.record(z.string(), z.number()),
});

/**
 * Lets many bills bounce on one day because our own account is empty. Measures how long it takes
 * until one person is asked, how long from the one decision until each bill is paid again, and how
 * much longer other users meanwhile wait for a plan, a decision and a cancel.
 */
export async function main(args: readonly string[]): Promise<void> {
  const options = { bills: { type: "string", default: "2000" } } as const;
  const { values } = parseArgs({ args: [...args], options });
  const bills = wholeNumber("bills", values.bills, 10);
  const home = await mkdtemp(join(tmpdir(), "payrun-bounce-"));
  const processes = new Processes(join(home, "logs"));
  try {
    const { company, gateway } = await start(processes, home);
    const { text, paidTwice } = await measure(company, gateway, bills);
    process.stdout.write(text);
    if (paidTwice) process.exitCode = 1;
  } finally {
    await processes.stopAll();
    await rm(home, { recursive: true, force: true });
  }
}

async function start(
  processes: Processes,
  home: string,
): Promise<{ company: Company; gateway: Gateway }> {
  const said = (line: string): void => void process.stderr.write(`${line}\n`);
  const cli = await findTemporalCli({ env: process.env, log: said });
  const databaseUrl = `sqlite:${join(home, "payrun.db")}`;
  const config = loadConfig(
    environmentWith({
      PAYRUN_HOME: home,
      PAYRUN_DATABASE_URL: databaseUrl,
      PAYRUN_PROFILES: undefined,
      TEMPORAL_ADDRESS: undefined,
      TEMPORAL_CLI: cli.path,
    }),
  );
  const options: StackOptions = {
    config,
    home,
    databaseUrl,
    embedTemporal: true,
    sandbox: { fixture: "blank", isTheBusiness: true },
    bundleFolder: home,
    cwd: home,
    workerStopTimeoutMs: 10_000,
  };
  const stack = await startStack(processes, options, await chooseAddresses(options, said));
  if (stack.business === null) throw new Error("the sandbox has no business");
  const gateway = new Gateway(stack.addresses.gateway);
  await gateway.invite(databaseUrl);
  const { apiUrl, token } = stack.business;
  return { company: new Company(apiUrl, token), gateway };
}

async function measure(
  company: Company,
  gateway: Gateway,
  bills: number,
): Promise<{ readonly text: string; readonly paidTwice: boolean }> {
  const example = new URL("../../playbooks/retry-failed.yaml", import.meta.url);
  const texts = {
    "retry-failed": await readFile(example, "utf8"),
    bounced: playbook("bounced"),
    probed: playbook("probed"),
  };
  for (const [name, text] of Object.entries(texts)) {
    await gateway.call("admin", "POST", "/v1/playbooks", { name, text });
  }
  const made = await company.bills("bounced", bills, 5);
  await company.bounceOnce(made);
  await company.bills("probed", 10, 30);
  const payments = await company.schedule(
    await company.bills("cancelled", toCancel(bills), 60),
    40,
  );
  const probed = { playbook: "probed", payments };

  say("the bills are made");
  await pay(gateway, bills);
  say("the bills are paid");
  const quietEndMs = performance.now() + QUIET_MS;
  const quiet = await probe(gateway, probed, () => performance.now() > quietEndMs);

  say("bounces them");
  // From here on a probe waits all the time, whatever else happens.
  const bouncedMs = performance.now();
  await company.days(8);
  const source = await whileProbed(gateway, probed, () => untilAllWait(gateway, bills));
  const askedMs = performance.now();
  say("all wait for one decision");
  await gateway.call("controller", "POST", `/v1/incidents/${source.result}/decision`, {
    decision: "released",
    reason: "the bank shows the money",
  });
  const decidedMs = performance.now();
  const released = await whileProbed(gateway, probed, () => untilPaidAgain(company, made));
  const releasedMs = performance.now();
  say("all are paid again");
  await sleep(10_000);
  const afterEndMs = performance.now() + QUIET_MS;
  const after = await probe(gateway, probed, () => performance.now() > afterEndMs);
  const text = [
    `${bills} bills bounced`,
    `asked          ${seconds(askedMs - bouncedMs)} until one person is asked about all of them`,
    `decided        ${seconds(decidedMs - askedMs)} for the answer to the decision`,
    `released       ${seconds(releasedMs - decidedMs)} until each was paid again`,
    `paid again     ${released.result.again} bills, ${released.result.more} more than once`,
    `waits          quiet ${shown(quiet)}`,
    `  bouncing     ${compared(source.waits, quiet)}`,
    `  releasing    ${compared(released.waits, quiet)}`,
    `  afterwards   ${compared(after, quiet)}`,
    "",
  ].join("\n");
  return { text, paidTwice: released.result.more > 0 };
}

function say(what: string): void {
  process.stderr.write(`bench: ${what}\n`);
}

async function whileProbed<T>(
  gateway: Gateway,
  probed: Parameters<typeof probe>[1],
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly waits: Waits }> {
  let isOver = false;
  const worked = work().finally(() => {
    isOver = true;
  });
  const [result, waits] = await Promise.all([worked, probe(gateway, probed, () => isOver)]);
  return { result, waits };
}

async function pay(gateway: Gateway, bills: number): Promise<void> {
  const run = await gateway.launch("bounced");
  const path = `/v1/runs/${encodeURIComponent(run)}`;
  let approved = false;
  for (;;) {
    const answer = await gateway.call("launcher", "GET", `${path}?page=1&pageSize=1`);
    const { planHash, counts } = runShape.parse(answer);
    if (!approved && counts["awaiting-approval"] === bills) {
      await gateway.call("controller", "POST", `${path}/decisions`, {
        decision: "approve",
        planHash,
      });
      approved = true;
    }
    if (counts["scheduled"] === bills) return;
    await sleep(LOOK_EVERY_MS);
  }
}

/** Waits until one incident has all bills. @returns its account */
async function untilAllWait(gateway: Gateway, bills: number): Promise<string> {
  for (;;) {
    const { items } = incidentsShape.parse(await gateway.call("launcher", "GET", "/v1/incidents"));
    const [incident, ...others] = items;
    if (others.length > 0) throw new Error(`there are ${items.length} incidents, not one`);
    if (incident?.bills === bills) return incident.source;
    await sleep(COUNT_EVERY_MS);
  }
}

async function untilPaidAgain(
  company: Company,
  made: readonly string[],
): Promise<{ readonly again: number; readonly more: number }> {
  for (;;) {
    const payments = await company.payments();
    const again = made.filter((id) => (payments.get(id) ?? 0) >= 2).length;
    const more = made.filter((id) => (payments.get(id) ?? 0) > 2).length;
    if (again === made.length) return { again, more };
    await sleep(COUNT_EVERY_MS);
  }
}

const KINDS = ["plans", "decisions", "cancels"] as const;

function shown(waits: Waits): string {
  return KINDS.map((kind) => `${kind} ${seconds(median(waits[kind]))}`).join(", ");
}

function compared(waits: Waits, quiet: Waits): string {
  return KINDS.map((kind) => {
    const ratio = median(waits[kind]) / median(quiet[kind]);
    const worst = Math.max(...waits[kind]) / median(quiet[kind]);
    return `${kind} ${ratio.toFixed(2)} x (worst of ${waits[kind].length}: ${worst.toFixed(2)} x)`;
  }).join(", ");
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}

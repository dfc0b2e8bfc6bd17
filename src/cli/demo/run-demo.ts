import { rmSync } from "node:fs";
import { join } from "node:path";
import type { RunStatus } from "../../api/runs.ts";
import { PaymentsClient } from "../../payments-api/index.ts";
import { StoreError } from "../../store/index.ts";
import { openStore } from "../../store/open.ts";
import { CliError, EXIT, type ExitCode } from "../terminal/cli-error.ts";
import { GatewayClient } from "../client/gateway-client.ts";
import { Processes } from "../parts/processes.ts";
import { ownHome } from "../home/private-file.ts";
import { readRunning, removeRunning, writeRunning } from "../home/running-file.ts";
import { SandboxControl } from "../client/sandbox-control.ts";
import { hasEnded } from "../show/run.ts";
import { type Addresses, chooseAddresses, type StackOptions, startStack } from "../parts/stack.ts";
import { supervised, type Supervision } from "../parts/supervised.ts";
import { bold, dim, yellow } from "../terminal/text.ts";
import { anotherSystemApproves, controllerDecides, launcherIsRefused } from "./approvals.ts";
import { closingReport, whatNext } from "./closing.ts";
import type { Demo } from "./context.ts";
import { armFaults, crashWorker, restartWorker, showRecovery } from "./crash.ts";
import { launchAndPlan } from "./launch.ts";
import { Narrator } from "./narrator.ts";
import { invitePeople } from "./people.ts";
import { settle, untilSent } from "./settle.ts";
import { letOthersRelease, reportReleaseDates } from "./withheld.ts";
import { type DemoState, newState, readState, writeState } from "./state.ts";
import { type Config, environmentWith, loadConfig } from "../../config.ts";

/** Settings of the user's own store, businesses and servers, none of which the demo touches. */
const NOT_OURS = {
  PAYRUN_DATABASE_URL: undefined,
  PAYRUN_PROFILES: undefined,
  PAYRUN_PUBLIC_URL: undefined,
  PAYRUN_GATEWAY_URL: undefined,
  PAYRUN_TOKEN: undefined,
  PAYMENTS_API_URL: undefined,
  PAYMENTS_API_TOKEN: undefined,
  PAYMENTS_BUSINESS_ID: undefined,
  PAYMENTS_WEBHOOK_SECRETS: undefined,
  PAYMENTS_ACH_ACCEPTED_BY: undefined,
  PAYMENTS_ACH_ACCEPTED_AT: undefined,
  PAYMENTS_API_SANDBOX: undefined,
  TEMPORAL_ADDRESS: undefined,
  TEMPORAL_PROFILE: undefined,
  TEMPORAL_CONFIG_FILE: undefined,
} as const;

interface DemoSettings {
  readonly config: Config;
  readonly home: string;
  /** A folder that outlives a demo that starts over. */
  readonly bundleFolder: string;
}

/** Returns the demo's settings: the user's ports, and its own values for everything else. */
function demoSettings(): DemoSettings {
  const user = loadConfig(environmentWith(NOT_OURS));
  ownHome(user);
  const home = join(user.home, "demo");
  const databaseUrl = `sqlite:${join(home, "payrun.db")}`;
  const config = loadConfig(
    environmentWith({ ...NOT_OURS, PAYRUN_HOME: home, PAYRUN_DATABASE_URL: databaseUrl }),
  );
  return { config, home, bundleFolder: join(user.home, "cache") };
}

export interface DemoOptions {
  /** End after the report, instead of staying up. */
  readonly once: boolean;
  /** Forget a demo that was begun. */
  readonly fresh: boolean;
}

/** A sandbox's worker can lose nothing that a lookup won't find. */
const WORKER_STOP_MS = 8_000;

const STARTS_OVER =
  "Another version of Payrun made the store of the unfinished demo: it starts over.";

/**
 * Runs the main job on the sandbox's sample company, from a playbook to settled money, with
 * everything embedded in its own home. Continues an unfinished demo if its store can be used.
 *
 * @returns 0 when the demo is complete and the books agree, 1 if they don't
 */
export async function runDemo(options: DemoOptions): Promise<ExitCode> {
  const narrator = new Narrator();
  const settings = demoSettings();
  const { home } = settings;
  const running = readRunning(home);
  if (running !== undefined) {
    throw new CliError(
      EXIT.unavailable,
      `the demo is already running (process ${running.pid}, gateway ${running.gatewayUrl})`,
      { code: "already_running", hint: "Stop that one with Ctrl-C first." },
    );
  }
  const begun = options.fresh ? undefined : await unfinished(settings, narrator);
  const goesOn = begun !== undefined;
  if (!goesOn) rmSync(home, { recursive: true, force: true });
  const state = begun ?? newState();
  ownHome(settings.config);
  writeState(home, state);
  const processes = new Processes(join(home, "logs"));
  let isDone = false;
  try {
    const code = await supervised(
      processes,
      (line) => narrator.plain(`\n${line}`),
      async (supervision) => {
        const stackOptions = stackOptionsOf(settings);
        const addresses = await chooseAddresses(stackOptions, (line) => narrator.plain(line));
        welcome(narrator, addresses, goesOn);
        writeRunning(home, addresses);
        const demo = await prepare({
          narrator,
          supervision,
          processes,
          addresses,
          stackOptions,
          state,
        });
        const isGood = await runSteps(demo);
        demo.remember({ finished: true });
        isDone = true;
        whatNext(demo, home, !options.once);
        if (!options.once) await supervision.interrupted;
        return isGood ? EXIT.done : EXIT.failed;
      },
      { followParent: true },
    );
    if (!isDone && code === EXIT.interrupted) narrator.plain("npm start goes on from here.");
    return isDone && code === EXIT.interrupted ? EXIT.done : code;
  } finally {
    removeRunning(home);
  }
}

/** Returns the demo to continue, if there is one. */
async function unfinished(
  { home, config }: DemoSettings,
  narrator: Narrator,
): Promise<DemoState | undefined> {
  const begun = readState(home);
  if (begun === undefined || begun.finished) return undefined;
  if (!(await isIncompatible(config.databaseUrl))) return begun;
  narrator.plain(STARTS_OVER);
  return undefined;
}

/**
 * True if the store was made by another version. Other problems are reported when the store is
 * opened for use.
 */
async function isIncompatible(databaseUrl: string): Promise<boolean> {
  try {
    const store = await openStore(databaseUrl, { mustExist: true });
    await store.close();
    return false;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return error.code === "incompatible";
  }
}

function stackOptionsOf({ config, home, bundleFolder }: DemoSettings): StackOptions {
  return {
    config,
    home,
    databaseUrl: config.databaseUrl,
    embedTemporal: true,
    sandbox: { fixture: "sample", isTheBusiness: true },
    bundleFolder,
    cwd: home,
    workerStopTimeoutMs: WORKER_STOP_MS,
  };
}

function welcome(narrator: Narrator, addresses: Addresses, goesOn: boolean): void {
  narrator.plain(
    `${bold("Payrun")}: a weekly pay run, from a playbook to settled money. ${yellow(bold("A sandbox, no real money."))}`,
  );
  narrator.line(`Temporal UI  ${addresses.temporalUi ?? addresses.temporal}`);
  narrator.line(`Gateway      ${addresses.gateway}`);
  narrator.line(`Sandbox      ${addresses.sandbox ?? ""}`);
  if (goesOn) narrator.line(dim("Going on with the unfinished demo; --fresh starts over."));
  narrator.line(dim("starting Temporal, the sandbox with its bank, the worker and the gateway …"));
}

async function prepare(parts: {
  readonly narrator: Narrator;
  readonly supervision: Supervision;
  readonly processes: Processes;
  readonly addresses: Addresses;
  readonly stackOptions: StackOptions;
  readonly state: DemoState;
}): Promise<Demo> {
  const { narrator, supervision, processes, addresses, stackOptions } = parts;
  const { home, databaseUrl } = stackOptions;
  const stack = await startStack(processes, stackOptions, addresses);
  const { business } = stack;
  if (business === null) throw new Error("the demo's sandbox has no business");
  const sandbox = new SandboxControl(business.apiUrl);
  // The sandbox may have been stopped while it passed days in seconds.
  await sandbox.changeClock({ scale: 1 });
  let { state } = parts;
  return {
    narrator,
    supervision,
    processes,
    addresses,
    sandbox,
    people: await invitePeople(home, databaseUrl),
    gateway: new GatewayClient({ url: addresses.gateway, token: stack.adminToken }),
    service: new PaymentsClient({ baseUrl: business.apiUrl, token: { value: business.token } }),
    webhookEndpointId: business.webhookEndpointId,
    worker: stack.worker,
    startWorker: () => stack.startWorker(),
    get state() {
      return state;
    },
    remember(change) {
      state = { ...state, ...change };
      writeState(home, state);
    },
  };
}

/** Runs all steps. Each reads where the run stands, so the demo can continue from any point. */
async function runSteps(demo: Demo): Promise<boolean> {
  const planned = await launchAndPlan(demo);
  const ended = hasEnded(planned) ? planned : await approveAndPay(demo, planned);
  return closingReport(demo, ended);
}

async function approveAndPay(demo: Demo, planned: RunStatus): Promise<RunStatus> {
  const { narrator } = demo;
  if (planned.payments.some(({ state }) => state === "awaiting-approval")) {
    narrator.heading("Approval");
    await launcherIsRefused(demo, planned);
    await armFaults(demo);
    const isApproved = await controllerDecides(demo, planned);
    if (!isApproved) return untilSent(demo);
  }
  narrator.heading("Pay");
  await payAndCrash(demo, planned);
  // Meanwhile the killed worker's lease expires.
  await letOthersRelease(demo);
  await showRecovery(demo);
  const sent = await untilSent(demo);
  if (hasEnded(sent)) return sent;
  narrator.line(`${sentCount(sent)} are with the service.`);
  reportReleaseDates(demo, sent);
  narrator.heading("Settle");
  narrator.line(dim("the bank's days pass in seconds now; one webhook in five gets lost"));
  return settle(demo);
}

/**
 * Kills the worker over a bill that the controller's approval alone releases; if those were paid
 * before, over a bill that the owner's approval adds.
 */
async function payAndCrash(demo: Demo, planned: RunStatus): Promise<void> {
  const { narrator } = demo;
  const isFirst = demo.state.crash === undefined;
  let crashed = isFirst && (await crashWorker(demo));
  if (crashed) await restartWorker(demo);
  if (planned.payments.some(({ state }) => state === "awaiting-approval")) {
    await anotherSystemApproves(demo, "owner");
    if (isFirst && !crashed) {
      crashed = await crashWorker(demo);
      if (crashed) await restartWorker(demo);
    }
  }
  if (isFirst && !crashed) {
    narrator.line(dim("everything approved was paid before this start: no crash this time"));
  }
}

function sentCount(run: RunStatus): string {
  const sent = run.payments.filter(({ paymentIds }) => paymentIds.length > 0).length;
  return `${sent} of ${run.payments.length} bills`;
}

import { askForDeposit } from "./seeds/globex.ts";
import { HOOLI_PHASES, runIn } from "./seeds/hooli.ts";
import {
  answer,
  at,
  BOTH,
  CORA,
  GRETA,
  go,
  HANNA,
  IVY,
  LOU,
  OTTO,
  send,
  type State,
  URSULA,
  VERA,
} from "./state.ts";
import { runPath, type World } from "./world.ts";

const of = (path: (run: string) => string) => (world: World) => path(runPath(world.acme.run));
const checking = (world: World, more = "") =>
  `${runPath(world.acme.run)}/approve?plan=${world.acme.run.planHash}${more}`;
const rejecting = ({ acme: { run } }: World) => `${runPath(run)}/reject?plan=${run.planHash}`;
const depositing = ({ acme: { run, deposit } }: World) =>
  `${runPath(run)}/deposit?topUp=${deposit}&plan=${run.planHash}`;
const checkingEnough = ({ globex: { enough } }: World) =>
  `${runPath(enough)}/approve?plan=${enough.planHash}`;

const CALLED = {
  "Whom did you call?": "Ann Lee, accounts",
  "On which number, known from before?": "+1 212 555 0100",
};

/** The page of today, and a run in each phase. */
export const RUNS: readonly State[] = [
  at("today", CORA, "/"),
  at("today-two-businesses", BOTH, "/"),
  at("today-phases", HANNA, "/"),
  at("today-first", IVY, "/"),
  at("today-viewer", VERA, "/"),
  at(
    "run",
    CORA,
    of((run) => run),
  ),
  at(
    "run-page-2",
    CORA,
    of((run) => `${run}?page=2#bills`),
  ),
  at(
    "run-owner",
    OTTO,
    of((run) => run),
  ),
  at(
    "run-viewer",
    VERA,
    of((run) => run),
  ),
  at(
    "run-launcher",
    LOU,
    of((run) => run),
  ),
  at("run-paying-long-names", CORA, ({ acme }) => runPath(acme.paying)),
  at("run-cash-enough", GRETA, ({ globex }) => runPath(globex.enough)),
  at("run-cash-short", GRETA, ({ globex }) => runPath(globex.short)),
  {
    name: "run-cash-short-deposit",
    who: GRETA,
    async come(page, world) {
      await askForDeposit(world.gateway.store, world.globex.short);
      await go(page, world, runPath(world.globex.short));
    },
  },
  ...HOOLI_PHASES.map((phase) =>
    at(`run-${phase}`, HANNA, `/runs/${encodeURIComponent(runIn(phase))}`),
  ),
  at("reports", CORA, "/reports"),
  at("reports-empty", IVY, "/reports"),
  at(
    "report",
    CORA,
    of((run) => run.replace("/runs/", "/reports/")),
  ),
  at("report-paying", HANNA, `/reports/${encodeURIComponent(runIn("paying"))}`),
  at("report-completed", HANNA, `/reports/${encodeURIComponent(runIn("completed"))}`),
  {
    ...at("report-printed", HANNA, `/reports/${encodeURIComponent(runIn("paying"))}`),
    isPrinted: true,
  },
  at(
    "hold-run",
    CORA,
    of((run) => `${run}/hold`),
  ),
  at(
    "cancel-run",
    CORA,
    of((run) => `${run}/cancel`),
  ),
  answer("cancel-run-mistake", CORA, {
    path: of((run) => `${run}/cancel`),
    button: "Cancel what is not sent",
  }),
];

/** Decisions about a run, their mistakes and their results. */
export const DECISIONS: readonly State[] = [
  at("approve", CORA, (world) => checking(world, "&out=pbl_0101")),
  at("approve-bank-change", CORA, checking),
  answer("approve-mistake", CORA, {
    path: (world) => checking(world, "&out=pbl_0101"),
    filled: {
      text: { "Whom did you call?": "Ann Lee", "On which number, known from before?": "none" },
    },
    button: "Approve",
  }),
  at(
    "approve-cash",
    GRETA,
    ({ globex: { short } }) => `${runPath(short)}/approve?plan=${short.planHash}`,
  ),
  at(
    "changed-unknown",
    CORA,
    of((run) => `${run}/approve?plan=another`),
  ),
  {
    name: "changed",
    who: URSULA,
    async come(page, world) {
      const { replanned } = world.umbrella;
      await go(page, world, `${runPath(replanned)}/approve?plan=${replanned.planHash}`);
    },
  },
  {
    name: "sign-in-again-first",
    who: GRETA,
    async come(page, world) {
      await world.gateway.store.db.updateTable("sessions").set({ signed_in_at_ms: 1 }).execute();
      await go(page, world, checkingEnough(world));
      await send(page, { text: CALLED }, "Approve");
    },
  },
  at("approve-kept", GRETA, (world) => `${checkingEnough(world)}&kept=yes`),
  at("reject", CORA, rejecting),
  answer("reject-mistake", CORA, { path: rejecting, button: "Reject the plan" }),
  answer("reject-not-yours", VERA, {
    path: rejecting,
    filled: { text: { Why: "no" } },
    button: "Reject the plan",
  }),
  at("deposit", OTTO, depositing),
  answer("deposit-mistake", OTTO, { path: depositing, button: "Decide" }),
  answer("deposit-refused", OTTO, {
    path: depositing,
    filled: { check: ["Refuse it"] },
    button: "Decide",
  }),
  answer("approved", CORA, {
    path: (world) => checking(world, "&out=pbl_0104"),
    filled: { text: { "Why these bills are left out": "looks forged" } },
    button: "Approve",
  }),
  at(
    "run-approved",
    CORA,
    of((run) => run),
  ),
  answer("approved-already", CORA, { path: checking, button: "Approve" }),
  answer("rejected", OTTO, {
    path: rejecting,
    filled: { text: { Why: "A bill looks forged" } },
    button: "Reject the plan",
  }),
  at(
    "run-just-rejected",
    CORA,
    of((run) => run),
  ),
];

import { LINE_STATES, type LineState } from "../../../../src/contracts/line-states.ts";
import { RUN_PHASES, type RunPhase } from "../../../../src/contracts/pay-run.ts";
import { recordOnboarding } from "../../../../src/store/onboarding/onboardings.ts";
import { setRunPhase } from "../../../../src/store/runs/runs.ts";
import type { Store } from "../../../../src/store/index.ts";
import { approveLines, planLine, seedRun, setLine } from "../../../gateway/support/rows.ts";
import { KYB_POLICY } from "../../../support/onboarding.ts";
import { sendOnce } from "../../../support/sends.ts";

const HOOLI = { business: "hooli", businessId: "biz_hooli" };

/** The reason of a bill in each state, as runs write it. */
const REASONS: Readonly<Partial<Record<LineState, readonly [code: string, reason: string]>>> = {
  parked: ["R03", "R03: no account or unable to locate account."],
  retrying: ["R01", "R01: insufficient funds; it is tried again on 2026-11-23."],
  returned: ["R10", "R10: the vendor says that the payment was not authorized."],
  held: ["review", "The service reviews it."],
  cancelled: ["cancelled", "Its payment was cancelled; no money moved."],
  refunded: ["refunded", "Its payment was refunded on 2026-11-17."],
  "paid-elsewhere": ["paid_elsewhere", "otto: paid by card."],
  "given-up": ["given_up", "otto: never delivered."],
  "on-hold": ["on_hold", "The vendor is on hold: dispute."],
};

/** The states of a paying run's bills; only bills that a plan leaves out are skipped. */
export const HOOLI_STATES = LINE_STATES.filter((state) => state !== "skipped");
export const HOOLI_PHASES = RUN_PHASES;

export function billIn(state: string): string {
  return `pbl_is_${state}`;
}

/** The states of a run's bills by its phase. */
const OF_PHASE: Readonly<Partial<Record<RunPhase, readonly LineState[]>>> = {
  funding: ["planned", "planned"],
  settling: ["processing", "settled"],
  completed: ["settled", "settled"],
  "completed-with-exceptions": ["settled", "given-up"],
  rejected: ["cancelled", "cancelled"],
  expired: ["parked", "cancelled"],
  cancelled: ["cancelled", "cancelled"],
  failed: ["cancelled", "cancelled"],
};

/** Returns the id of the run in a phase. */
export function runIn(phase: string): string {
  return `pay-run/hooli/weekly/${periodOf(phase)}`;
}

function periodOf(phase: string): string {
  const day = String(HOOLI_PHASES.findIndex((each) => each === phase) + 1);
  return `2026-10-${day.padStart(2, "0")}`;
}

/** Creates a run in each phase, one of them with a bill in each state, and an onboarding. */
export async function seedHooli(store: Store): Promise<void> {
  for (const phase of HOOLI_PHASES) {
    const isPaying = phase === "paying";
    const ids = isPaying ? HOOLI_STATES.map(billIn) : [`pbl_in_${phase}_1`, `pbl_in_${phase}_2`];
    const run = await seedRun(store, {
      ...{ ...HOOLI, period: periodOf(phase), launchedBy: "lou", author: "ada" },
      lines: ids.map((id, no) =>
        planLine(id, {
          ...{ publicId: `BILL-${id.slice(7)}`, executionDate: "2026-11-19" },
          ...{ contactName: no % 2 === 0 ? "Castellan Steel" : "Foxglove Freight" },
          // The amount of the tests' requests.
          amountCents: isSent(HOOLI_STATES[no]) && isPaying ? 10_000 : 123_456 + no * 98_765,
        }),
      ),
    });
    if (isPaying) await setStates(store, run.runId);
    for (const [no, state] of (OF_PHASE[phase] ?? []).entries()) {
      await setLine(store, run.runId, ids[no] ?? "", { state, ...reasonOf(state) });
    }
    await setRunPhase(store.db, run.runId, {
      phase,
      ...(phase === "failed" ? { failure: "The service lists no funding source." } : {}),
      ...(phase.startsWith("completed") ? { endedAtMs: Date.now() } : {}),
    });
  }
  await store.transaction((trx) =>
    recordOnboarding(trx, {
      ...{ ...HOOLI, workflowId: "kyb-onboarding/hooli", playbook: "kyb", playbookRevision: 1 },
      ...{ policy: KYB_POLICY, launchedBy: "lou", launchedByTokenId: null, nowMs: Date.now() },
    }),
  );
}

const SENT: readonly LineState[] = ["scheduled", "held", "processing", "settled", "returned"];

function isSent(state: LineState | undefined): boolean {
  return state !== undefined && SENT.includes(state);
}

function reasonOf(state: LineState): { reasonCode?: string; reason?: string } {
  const [reasonCode, reason] = REASONS[state] ?? [];
  return reasonCode === undefined || reason === undefined ? {} : { reasonCode, reason };
}

async function setStates(store: Store, runId: string): Promise<void> {
  await approveLines(store, { runId, planHash: "-" }, [billIn("settled"), billIn("scheduled")]);
  for (const state of HOOLI_STATES) {
    await setLine(store, runId, billIn(state), {
      ...{ state, ...reasonOf(state) },
      ...(isSent(state) ? { paymentIds: [`pay_${state}_7f3c2a9b`] } : {}),
    });
    const subject = { businessId: "biz_hooli", subject: billIn(state), owner: runId };
    if (isSent(state)) {
      const made = { status: 201, madeIds: [`pay_${state}_7f3c2a9b`] };
      await sendOnce(store, subject, { result: "applied", ...made });
    }
    if (state === "unknown") await sendOnce(store, subject);
  }
}

import type { Transaction } from "kysely";
import type { ClockReading } from "../../src/business/clock.ts";
import { MOVING_TOP_UP_STATES } from "../../src/contracts/deposit.ts";
import { newYorkDate } from "../../src/domain/clock/new-york.ts";
import { depositText } from "../../src/domain/notices/top-up-texts.ts";
import { approversOfTopUp } from "../../src/store/deposits/deposit-approvals.ts";
import { hasAskingDeposit } from "../../src/store/deposits/deposit-asks.ts";
import type { Tables } from "../../src/store/schema/tables.ts";
import { openTopUpsOf, type TopUp } from "../../src/store/deposits/deposits.ts";

/** Where the open deposits of a workflow stand, for the code that decides what it does next. */
export interface DepositsStand {
  /** True if one can be taken a step further now. */
  readonly due: boolean;
  /** Money is, or may be, on its way. */
  readonly moving: boolean;
  /** One waits for an approval, or for a person to look at the service's list. */
  readonly needsAction: boolean;
  /** Null if none is open. */
  readonly waitingFor: string | null;
  /** Real milliseconds until one can be taken further; null if that isn't known. */
  readonly dueInMs: number | null;
}

/** Reads the store alone, not the service. */
export async function depositsStand(
  trx: Transaction<Tables>,
  owner: string,
  clock: ClockReading,
): Promise<DepositsStand> {
  const open = await openTopUpsOf(trx, owner);
  const stands = await Promise.all(open.map((topUp) => oneStands(trx, topUp, clock)));
  const texts = stands.map(({ text }) => text);
  const dueIn = stands.flatMap(({ dueInMs }) => (dueInMs === null ? [] : [dueInMs]));
  return {
    due: dueIn.some((ms) => ms <= 0),
    moving: open.some(({ state }) => MOVING_TOP_UP_STATES.includes(state)),
    needsAction: await hasAskingDeposit(trx, owner, Math.floor(clock.businessMs)),
    waitingFor: texts.length === 0 ? null : texts.join("; "),
    dueInMs: dueIn.length === 0 ? null : Math.max(0, Math.min(...dueIn)),
  };
}

interface OneStands {
  readonly text: string;
  readonly dueInMs: number | null;
}

async function oneStands(
  trx: Transaction<Tables>,
  topUp: TopUp,
  clock: ClockReading,
): Promise<OneStands> {
  const deposit = depositText(topUp).replace(/^A/, "a");
  if (topUp.state === "on-its-way") {
    const dueInMs = clock.realMsUntil(topUp.pollAtMs);
    const isLate = newYorkDate(clock.businessMs) > topUp.arrivesOn;
    const late = `, and was to be there on ${topUp.arrivesOn}: ask the service`;
    const text = `${deposit}, on its way${isLate ? late : ""}`;
    return { text, dueInMs };
  }
  const dueInMs = topUp.notBeforeMs - clock.serviceMs;
  if (topUp.state === "sending") {
    return { text: `${deposit}: ${topUp.reason ?? "being made"}`, dueInMs };
  }
  const businessMs = Math.floor(clock.businessMs);
  const { length: approvals } = await approversOfTopUp(trx, topUp, businessMs);
  if (approvals >= topUp.quorum) {
    return { text: `${deposit}: ${topUp.reason ?? "approved"}`, dueInMs };
  }
  const missing = topUp.quorum - approvals;
  const who = topUp.approvers.join(" or ");
  const text = `${deposit}, to be approved by ${missing === 1 ? who : `${missing} of ${who}`}, made by ${topUp.makeBy}`;
  return { text, dueInMs: null };
}

import { DAY_MS } from "../contracts/durations.ts";
import { STORE_TROUBLES, type StoreState } from "../domain/store-states.ts";
import { shellWord } from "../domain/shell-word.ts";
import type { BusinessProfile } from "../config/business-profile.ts";
import type { Condition } from "../api/conditions.ts";
import type { Principal } from "../actions/principal.ts";
import { approverConditions } from "./approver-conditions.ts";
import { lateConditions } from "./late-conditions.ts";
import { failed, spokenText, warning } from "./condition-texts.ts";
import { workerConditions } from "./worker-conditions.ts";
import { coversBusinesses, tokenProblem } from "../domain/approvals/token.ts";
import { listTokens, type Token } from "../store/approvals/tokens.ts";
import type { Db } from "../store/index.ts";
import { countUndelivered } from "../store/notices/notice-deliveries.ts";
import { listNotices } from "../store/notices/notices.ts";
import { databaseNowMs } from "../store/sql/database-clock.ts";
import { lossHold } from "../store/janitor/behind.ts";

/**
 * Clocks that differ by more than this are reported: approvals and dates would be judged by the
 * wrong time.
 */
const SKEW_MS = 10_000;

/** A restart that is over within this time is no news. */
const RESTARTS_WITHIN_MS = 30_000;

/** A token that ends within this time should be replaced. */
const EXPIRES_SOON_MS = 14 * DAY_MS;

/**
 * The kinds of notices that a person must act upon. People who get none of them miss everything
 * that matters.
 */
const NEEDS_PEOPLE = ["approval-needed", "parked", "incident"] as const;

interface Asked {
  readonly db: Db;
  /** How the store takes writes. */
  readonly storeState: StoreState;
  /** True if it took no writes until a moment ago, as far as the answering process knows. */
  readonly hasJustRecovered?: boolean;
  readonly profiles: readonly BusinessProfile[];
  /** True if no business moves real money, including businesses that the caller may not see. */
  readonly sandboxesOnly: boolean;
  readonly nowMs: number;
  /** Ids of the answering process's encryption keys; the first is the one that it encrypts with. */
  readonly keyIds: readonly string[];
  /**
   * When Temporal stopped answering the answering process; undefined while it answers, or if
   * unknown.
   */
  readonly temporalSilentSinceMs?: number | undefined;
  /** The caller; undefined on the store's host, where everything may be seen. */
  readonly caller?: Principal;
}

/**
 * Returns everything that is not as it should be, as far as the store and the settings show it.
 * What stops work comes first.
 */
export async function conditionsOf(asked: Asked): Promise<Condition[]> {
  const found = await Promise.all([
    lossConditions(asked),
    lateConditions(asked),
    workerConditions(asked),
    clockConditions(asked),
    webhookConditions(asked),
    noticeConditions(asked),
    tokenConditions(asked),
    approverConditions(asked),
  ]);
  const all = [
    ...storeConditions(asked),
    ...temporalConditions(asked),
    ...found.flat(),
    ...asked.profiles.flatMap(nobodyTold),
  ];
  const isFailed = ({ severity }: Condition): boolean => severity === "failed";
  return [...all.filter(isFailed), ...all.filter((each) => !isFailed(each))];
}

function storeConditions({ storeState }: Asked): Condition[] {
  if (storeState === "ok") return [];
  const { text, remedy } = STORE_TROUBLES[storeState];
  return [
    failed("store_not_writable", `${text}: runs stand still, and no webhook is kept`, remedy),
  ];
}

function temporalConditions({ temporalSilentSinceMs, nowMs }: Asked): Condition[] {
  const silentMs = nowMs - (temporalSilentSinceMs ?? nowMs);
  if (silentMs < RESTARTS_WITHIN_MS) return [];
  return [
    failed(
      "temporal_unreachable",
      `Temporal has not answered for ${spokenText(silentMs)}: runs stand still, and what people decide is kept until it answers`,
      "See that it runs, and that gateways and workers reach it (TEMPORAL_ADDRESS); they go on by themselves.",
    ),
  ];
}

async function clockConditions({ db, nowMs }: Asked): Promise<Condition[]> {
  const skew = skewOf("The database", (await databaseNowMs(db)) - nowMs);
  return skew === undefined ? [] : [warning("clock_skew", skew.text, skew.remedy)];
}

/**
 * Returns what to say about a clock that differs from this machine's; undefined if the two agree
 * within the tolerance.
 */
export function skewOf(
  whose: string,
  aheadMs: number,
): { readonly text: string; readonly remedy: string } | undefined {
  if (Math.abs(aheadMs) <= SKEW_MS) return undefined;
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  return {
    text: `${whose}'s clock is ${seconds} s ${aheadMs > 0 ? "ahead of" : "behind"} this machine's`,
    remedy: "Set the clocks by a time server (NTP): dates and approvals are judged by them.",
  };
}

/**
 * Gateways resume paused endpoints by themselves; they have notified people of those that they
 * could not resume.
 */
async function webhookConditions({ db, profiles }: Asked): Promise<Condition[]> {
  const found = profiles.map(async ({ businessId, name }) => {
    const kind = "webhooks-paused";
    const [last] = await listNotices(db, { businessId, kind, limit: 1 });
    if (last?.data["state"] !== "paused") return [];
    const url = String(last.data["url"]);
    const text = `the service has paused the webhook endpoint ${url}: changes are found by polling only`;
    const { outcome } = last.data;
    const said = typeof outcome === "string" ? outcome : "";
    const remedy = `${said} ${resumed(url)} This is shown until a webhook has arrived.`.trim();
    return [warning("webhooks_paused", text, remedy, name)];
  });
  return (await Promise.all(found)).flat();
}

/** Returns how to repair a paused endpoint: first remove what kept its deliveries from arriving. */
export function resumed(url: string): string {
  return `See that the service reaches ${url} (PAYRUN_PUBLIC_URL names the gateway) and that webhookSecrets has the endpoint's secret; then “payrun doctor --fix” asks the service to resume it.`;
}

async function noticeConditions({ db, caller }: Asked): Promise<Condition[]> {
  if ((caller?.businesses ?? null) !== null) return [];
  const { undeliverable, retrying, unrouted } = await countUndelivered(db);
  if (undeliverable + retrying + unrouted === 0) return [];
  const text = `notices have not reached everyone: ${undeliverable} given up, ${retrying} tried again, ${unrouted} without an address`;
  return [
    warning("notices_undelivered", text, "“payrun notices --undelivered” says which and why."),
  ];
}

async function tokenConditions({ db, nowMs, sandboxesOnly, caller }: Asked): Promise<Condition[]> {
  const all = await listTokens(db);
  const tokens = all.filter((token) => tokenProblem(token, { nowMs, sandboxesOnly }) === undefined);
  return tokens
    .filter((token) => caller === undefined || maySee(caller, token))
    .filter(({ expiresAtMs }) => expiresAtMs - nowMs < EXPIRES_SOON_MS)
    .filter((token) => !tokens.some((other) => takesOver(other, token)))
    .map(({ name, roles, businesses, expiresAtMs }) =>
      warning(
        "token_expires",
        `the token of ${name} (${roles.join(", ")}) ends in ${spokenText(expiresAtMs - nowMs)}`,
        `An administrator makes the next one: ${commandFor(name, roles, businesses ?? [])}`,
      ),
    );
}

/**
 * Returns the command that creates another token with the same roles and businesses, and no more.
 */
function commandFor(name: string, roles: readonly string[], businesses: readonly string[]): string {
  const options = [
    ...roles.map((role) => ` --role ${role}`),
    ...businesses.map((business) => ` --business ${business}`),
  ];
  return `payrun token create ${shellWord(name)}${options.join("")}`;
}

/**
 * Returns true if the caller may see a token: their own, or for administrators any token of their
 * businesses.
 */
function maySee(caller: Principal, { tokenId, businesses }: Token): boolean {
  if (tokenId === caller.tokenId) return true;
  return caller.roles.includes("admin") && coversBusinesses(caller.businesses, businesses);
}

/** Returns true if the other token does for the same person all that this one does, and longer. */
function takesOver(other: Token, token: Token): boolean {
  return (
    other.name === token.name &&
    other.expiresAtMs > token.expiresAtMs &&
    coversBusinesses(other.businesses, token.businesses) &&
    token.roles.every((role) => other.roles.includes(role))
  );
}

function nobodyTold({ name, notify }: BusinessProfile): Condition[] {
  const channels = notify?.channels ?? [];
  if (channels.length === 0) {
    const text = `nobody at ${name} is notified of anything: its profile has no notify: { channels }`;
    return [warning("nobody_told", text, CHANNELS, name)];
  }
  const unreported = NEEDS_PEOPLE.filter(
    (kind) => !channels.some(({ kinds }) => kinds === null || kinds.includes(kind)),
  );
  if (unreported.length === 0) return [];
  const text = `nobody at ${name} is notified of ${unreported.join(", ")}: no channel takes these kinds`;
  return [warning("nobody_told", text, CHANNELS, name)];
}

const CHANNELS =
  "Add a channel under notify: in the profile (docs/notices.md), or PAYMENTS_NOTIFY_… if the environment describes the business.";

/**
 * Reports businesses whose store has lost something, until a person has compared it with the
 * service and released the hold.
 */
async function lossConditions({
  db,
  profiles,
  nowMs,
}: {
  readonly db: Db;
  readonly profiles: readonly BusinessProfile[];
  readonly nowMs: number;
}): Promise<Condition[]> {
  const found = profiles.map(async ({ businessId, name: business }): Promise<Condition[]> => {
    const holdId = await lossHold(db, businessId, nowMs);
    if (holdId === null) return [];
    const text = `everything of ${business} is on hold: the store is older than what was done with it, or may be. A token that was revoked or got a new secret after the backup counts again as it did then`;
    const remedy = `payrun holds says how it shows. Compare (payrun payments --since BACKUP_DAY, payrun token list), revoke such tokens again, then: payrun release ${holdId}`;
    return [{ code: "store_behind", severity: "failed", business, text, remedy }];
  });
  return (await Promise.all(found)).flat();
}

import type { FundingSource } from "../../payments-api/index.ts";
import { sourceStandingText } from "../../domain/funding-source.ts";
import { folded } from "../../domain/names.ts";
import { listIncidents } from "../../store/incidents/incidents.ts";
import { namesOfKind } from "../../store/names/names.ts";
import {
  answerOrReason,
  type Found,
  type Looking,
  type Named,
  nearestNames,
  soon,
} from "./found.ts";

interface Account {
  readonly id: string;
  readonly number: string | null;
  readonly name: string | null;
  readonly kind: string | null;
  readonly state: string | null;
  readonly amountCents: number | null;
}

/** Finds funding accounts by id, name or last four digits, and the balance as `balance`. */
export async function findAccounts({ context, profile, text }: Looking): Promise<Found> {
  const { db } = context.store;
  const kept = await namesOfKind(db, profile.businessId, "account", ACCOUNTS_MOST);
  const unnamed = { number: null, name: null, kind: null, state: null, amountCents: null };
  const bounced = (await listIncidents(db, profile.businessId)).map(({ sourceId }) => sourceId);
  const isKnown = bounced.includes(text) || kept.some(({ id }) => id === text);
  const { value = [], unread } = isKnown
    ? {}
    : await answerOrReason(() => context.clientOf(profile).fundingSources.list(soon()));
  const accounts = new Map<string, Account>([
    ...bounced.map((id): [string, Account] => [id, { id, ...unnamed }]),
    ...kept.map(({ id, number, name }): [string, Account] => [
      id,
      { id, ...unnamed, number, name },
    ]),
    ...value.map((source): [string, Account] => [source.id, accountOf(source)]),
  ]);
  const all = [...accounts.values()];
  const byId = all.filter(({ id }) => id === text);
  const exact = byId.length > 0 ? byId : all.filter((account) => isMeant(account, text));
  // There are few accounts: a mistyped name returns all of them, the nearest first.
  const near = exact.length > 0 ? [] : [...new Set([...nearestNames(all, text), ...all])];
  return { exact: exact.map(shown), near: near.map(shown), unread };

  function shown({ id, number, name, state, amountCents }: Account): Named {
    return { kind: "account", id, business: profile.name, number, name, state, amountCents };
  }
}

/** A business has few accounts; all of them are compared. */
const ACCOUNTS_MOST = 200;

function accountOf(source: FundingSource): Account {
  const { id, last4: number, name, kind, availableCents } = source;
  return { id, number, name, kind, state: sourceStandingText(source), amountCents: availableCents };
}

/** `Operating`, `6789`, `··6789`, `Operating ··6789` and `balance` each name an account. */
function isMeant({ number, name, kind, id }: Account, text: string): boolean {
  const typed = folded(text)
    .replaceAll(/[·•.…*x]{2,}|…/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  if (typed === "") return false;
  if (typed === "balance") return kind === "balance" || id === "balance";
  const called = folded(name ?? "");
  return typed === called || typed === number || typed === `${called} ${number ?? ""}`;
}

import type { AuthorKind } from "../contracts/authors.ts";
import { withFullStop } from "./history-texts.ts";
import type { NamedKind } from "./names.ts";

interface ScopeOfHold {
  /** The field of a request that names the thing to hold. */
  readonly field: string;
  /** The kind of thing, as people name it; null for everything. */
  readonly kind: NamedKind | null;
  /** The fact of a line that the hold's value is compared with; null stops every line. */
  readonly fact: keyof HoldFacts | null;
}

/** The things that a hold can be on. */
export const HOLD_SCOPE = {
  payable: { field: "payableId", kind: "bill", fact: "payableId" },
  contact: { field: "contactId", kind: "vendor", fact: "contactId" },
  source: { field: "source", kind: "account", fact: "sourceId" },
  run: { field: "run", kind: "run", fact: "runId" },
  playbook: { field: "playbook", kind: "playbook", fact: "playbook" },
  all: { field: "all", kind: null, fact: null },
} as const satisfies Readonly<Record<string, ScopeOfHold>>;

export type HoldScopeName = keyof typeof HOLD_SCOPE;

/** Fields of a request, one of which names what a hold is on. */
export type HoldField = (typeof HOLD_SCOPE)[HoldScopeName]["field"];

export const HOLD_SCOPES = Object.keys(HOLD_SCOPE) as readonly HoldScopeName[];

/**
 * Returns the fact of a line that a hold of a scope is compared with. Null stops every line, also
 * for a scope that a newer program wrote: stopping is the safe reading.
 */
export function factOf(scope: string): keyof HoldFacts | null {
  return isScope(scope) ? HOLD_SCOPE[scope].fact : null;
}

/**
 * Returns the kind of thing that a hold of a scope is on; null for everything, and for an unknown
 * scope.
 */
export function kindOf(scope: string): NamedKind | null {
  return isScope(scope) ? HOLD_SCOPE[scope].kind : null;
}

function isScope(scope: string): scope is HoldScopeName {
  return Object.hasOwn(HOLD_SCOPE, scope);
}

/** Scopes of a stop, which is a hold and a cancel of what the service already has. */
export type StopScope = Extract<HoldScopeName, "contact" | "source" | "run" | "all">;

export interface StopTarget {
  readonly scope: StopScope;
  /** Empty for everything. */
  readonly value: string;
}

/** The ways in which a person ends a bill for good, with the words that people read about them. */
export const ENDED_BY_PERSON = {
  "paid-elsewhere": "it was paid elsewhere",
  "given-up": "it was given up",
} as const;
export type EndedByPerson = keyof typeof ENDED_BY_PERSON;

export function isEndedByPerson(state: string | undefined): state is EndedByPerson {
  return state !== undefined && Object.hasOwn(ENDED_BY_PERSON, state);
}

export interface HoldTarget {
  readonly scope: HoldScopeName;
  /** Empty for everything. */
  readonly value: string;
}

/** The fields of a hold that decide whether it stops a line. */
export interface HoldScope {
  readonly scope: string;
  readonly value: string;
  readonly reason: string;
}

export interface HoldFacts {
  readonly payableId: string;
  readonly contactId: string;
  readonly sourceId: string;
  readonly runId: string;
  readonly playbook: string;
}

/**
 * Says why a line on hold isn't paid. A long reason is cut to its first part, because every line
 * repeats it.
 *
 * @param others how many more holds stop the line; they remain if this one is released
 */
export function onHoldText(hold: SetBy & { readonly reason: string }, others = 0): string {
  const reason = beginningOf(hold.reason);
  const text = isSetByPayrun(hold)
    ? `On hold: ${reason}`
    : `On hold since ${hold.author} said: ${reason}`;
  if (others === 0) return text;
  const more = others === 1 ? "1 more hold applies" : `${others} more holds apply`;
  return `${withFullStop(text)} ${more} to it.`;
}

/** Says which hold stops a bill, why, and which command ends it. */
export function holdAppliesText(
  hold: SetBy & {
    readonly holdId: string;
    readonly scope: string;
    readonly reason: string;
    readonly roles: readonly string[];
  },
): string {
  const { holdId, author, roles } = hold;
  const on = isScope(hold.scope) ? HOLD_IS_ON[hold.scope] : "everything";
  const by = isSetByPayrun(hold) ? "" : `${author}: `;
  const reason = beginningOf(hold.reason).replace(/\.$/, "");
  const only = roles.length === 0 ? "" : `; only ${roles.join(" or ")} may`;
  return `A hold on ${on} applies to it (${by}${reason}): payrun release ${holdId} lifts it${only}.`;
}

const HOLD_IS_ON: Readonly<Record<HoldScopeName, string>> = {
  payable: "this bill",
  contact: "every bill of its vendor",
  source: "its account",
  run: "its run",
  playbook: "its playbook",
  all: "everything",
};

/** The author of a hold. */
interface SetBy {
  readonly author: string;
  readonly authorKind: AuthorKind;
}

/** True if Payrun or one of its workflows set the hold: such a name means nothing to people. */
export function isSetByPayrun({ authorKind }: Pick<SetBy, "authorKind">): boolean {
  return authorKind === "system";
}

function beginningOf(reason: string): string {
  if (reason.length <= LONG) return reason;
  const first = /^.{20,}?(?=[:.;] )/s.exec(reason)?.[0] ?? reason;
  return `${first.length <= LONG ? first : reason.slice(0, LONG)} …`;
}

const LONG = 200;

/** Returns the first hold that stops a line, or undefined. */
export function holdOn<H extends HoldScope>(holds: readonly H[], facts: HoldFacts): H | undefined {
  return holds.find((hold) => stops(hold, facts));
}

/** Returns all holds that stop a line, in their order. */
export function holdsOn<H extends HoldScope>(holds: readonly H[], facts: HoldFacts): H[] {
  return holds.filter((hold) => stops(hold, facts));
}

function stops({ scope, value }: HoldScope, facts: HoldFacts): boolean {
  const fact = factOf(scope);
  return fact === null || value === facts[fact];
}

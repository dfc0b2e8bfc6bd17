import type { BusinessProfile } from "../../config/business-profile.ts";
import type { LineParts } from "../../domain/payments/line-parts.ts";
import { folded, type Name, type NamedKind } from "../../domain/names.ts";
import { PaymentsApiError } from "../../payments-api/index.ts";
import { NEAR_MOST, suggest } from "../../domain/suggest.ts";
import type { ActionContext } from "../context.ts";

/** Something that a person may have meant. */
export interface Named {
  readonly kind: NamedKind;
  readonly id: string;
  readonly business: string;
  /** A bill's number, an account's last four, a run's short name. */
  readonly number: string | null;
  /** The vendor's, the account's, or what a hold is on. */
  readonly name: string | null;
  readonly amountCents: number | null;
  /** Of a bill that is paid in part: how much. */
  readonly parts?: LineParts;
  readonly state: string | null;
  /** The bill of a payment. */
  readonly payableId?: string | null;
}

/** What a text may stand for in one business. */
export interface Found {
  /** Called exactly so. */
  readonly exact: readonly Named[];
  /** Called nearly so, or with the text in it. */
  readonly near: readonly Named[];
  /** Why the service could not be asked, where it could not. */
  readonly unread?: string | undefined;
}

export interface Looking {
  readonly context: Pick<ActionContext, "store" | "clientOf" | "clocks">;
  readonly profile: BusinessProfile;
  readonly text: string;
  /** Only bills of this run. */
  readonly runId?: string | undefined;
  /** True where bills that are over are meant as well as those that are open. */
  readonly overToo?: boolean | undefined;
  /** True where the service is asked for everything before a name is said to be unknown. */
  readonly thorough: boolean;
}

/** Names among which the one that was meant is looked for. */
export const NAMES_COMPARED = 5_000;

export function nothing(unread?: string): Found {
  return { exact: [], near: [], unread };
}

/** True where the text is the name's number or name, as people type it. */
export function isCalled({ number, name }: Pick<Name, "number" | "name">, text: string): boolean {
  const typed = folded(text);
  if (typed === "") return false;
  return folded(number ?? "") === typed || folded(name ?? "") === typed;
}

/** Those of some names that have the text in them, or one that is hardly mistyped. */
export function nearest<N extends Pick<Name, "number" | "name">>(
  names: readonly N[],
  text: string,
): N[] {
  const typed = folded(text);
  const textsOf = ({ number, name }: N) => [folded(number ?? ""), folded(name ?? "")];
  const within = names.filter((name) => textsOf(name).some((each) => each.includes(typed)));
  if (within.length > 0) return within.slice(0, NEAR_MOST);
  const whole = alike(names, typed, textsOf);
  // A vendor is often named by its first word alone.
  return whole.length > 0
    ? whole
    : alike(names, typed, ({ name }) => [beginningOf(folded(name ?? ""), typed)]);
}

/** Those that are called, by some of their texts, what a mistyped text probably means. */
function alike<N>(
  names: readonly N[],
  typed: string,
  textsOf: (name: N) => readonly string[],
): N[] {
  const meant = suggest(typed, names.flatMap(textsOf));
  return names
    .filter((name) => meant !== undefined && textsOf(name).includes(meant))
    .slice(0, NEAR_MOST);
}

/** As many words of a name as the text has. */
function beginningOf(name: string, text: string): string {
  return name.split(" ").slice(0, text.split(" ").length).join(" ");
}

/** How long a search may wait for the service. */
export const SERVICE = { timeoutMs: 5_000, patienceMs: 5_000 } as const;

/** How long all pages of a list may take. */
const WALK_MS = 20_000;

/** The same for a list that is read to its end. */
export function walking(): { readonly signal: AbortSignal; readonly timeoutMs: number } {
  return { ...SERVICE, signal: AbortSignal.timeout(WALK_MS) };
}

/** What the service answers, and why it doesn't where it doesn't. */
export async function asked<T>(
  read: () => Promise<T>,
): Promise<{ readonly value?: T; readonly unread?: string }> {
  try {
    return { value: await read() };
  } catch (error) {
    if (!(error instanceof PaymentsApiError)) throw error;
    return { unread: error.words };
  }
}

/** Null for what the service doesn't have, or takes for no id. */
export async function unlessUnknown<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PaymentsApiError && [400, 404, 422].includes(error.status ?? 0)) {
      return null;
    }
    throw error;
  }
}

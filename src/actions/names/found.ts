import type { BusinessProfile } from "../../config/business-profile.ts";
import type { LineParts } from "../../domain/payments/line-parts.ts";
import { folded, type Name, type NamedKind } from "../../domain/names.ts";
import { OtherRecordError, PaymentsApiError } from "../../payments-api/index.ts";
import { NEAR_MOST, suggest } from "../../domain/suggest.ts";
import type { ActionContext } from "../context.ts";

/** Something that a person may have meant. */
export interface Named {
  readonly kind: NamedKind;
  readonly id: string;
  readonly business: string;
  /** A bill's number, an account's last four, a run's short name. */
  readonly number: string | null;
  /** The name of the vendor, of the account, or of what a hold is on. */
  readonly name: string | null;
  readonly amountCents: number | null;
  /** For a bill that is paid in parts: what has settled, what is on its way, and the rest. */
  readonly parts?: LineParts;
  readonly state: string | null;
  /** The bill of a payment. */
  readonly payableId?: string | null;
}

/** What a text may stand for in one business. */
export interface Found {
  /** Matches of the whole text. */
  readonly exact: readonly Named[];
  /** Matches of a similar text, or of names that contain the text. */
  readonly near: readonly Named[];
  /** Why the service could not be read; undefined if it was. */
  readonly unread?: string | undefined;
}

export interface Looking {
  readonly context: Pick<ActionContext, "store" | "clientOf" | "clocks">;
  readonly profile: BusinessProfile;
  readonly text: string;
  /** Only bills of this run. */
  readonly runId?: string | undefined;
  /** True if bills that are over are wanted as well as open ones. */
  readonly overToo?: boolean | undefined;
  /** True if the service's whole lists are read before a name counts as unknown. */
  readonly thorough: boolean;
}

/** Most names that are compared with a text. */
export const NAMES_COMPARED = 5_000;

export function nothing(unread?: string): Found {
  return { exact: [], near: [], unread };
}

/** Returns true if the text is the number or the name, as people type it. */
export function isCalled({ number, name }: Pick<Name, "number" | "name">, text: string): boolean {
  const typed = folded(text);
  if (typed === "") return false;
  return folded(number ?? "") === typed || folded(name ?? "") === typed;
}

/** Returns the names that contain the text, or else those that it probably mistypes. */
export function nearestNames<N extends Pick<Name, "number" | "name">>(
  names: readonly N[],
  text: string,
): N[] {
  const typed = folded(text);
  const textsOf = ({ number, name }: N) => [folded(number ?? ""), folded(name ?? "")];
  const within = names.filter((name) => textsOf(name).some((each) => each.includes(typed)));
  if (within.length > 0) return within.slice(0, NEAR_MOST);
  const whole = alike(names, typed, textsOf);
  // Vendors are often named by their first word alone.
  return whole.length > 0
    ? whole
    : alike(names, typed, ({ name }) => [beginningOf(folded(name ?? ""), typed)]);
}

/** Returns the names of which one text is what a mistyped text probably means. */
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

/** Returns as many words of a name as the text has. */
function beginningOf(name: string, text: string): string {
  return name.split(" ").slice(0, text.split(" ").length).join(" ");
}

/** How long a search waits for one answer of the service, all tries together. */
const ANSWER_MS = 5_000;

/** The time limit for all pages of a list. */
const WALK_MS = 20_000;

/** Returns the limits for one answer. */
export function soon() {
  return { patienceMs: ANSWER_MS, signal: AbortSignal.timeout(ANSWER_MS) };
}

/** Returns the limits for a list that is read to its end. */
export function walking() {
  return { timeoutMs: ANSWER_MS, patienceMs: ANSWER_MS, signal: AbortSignal.timeout(WALK_MS) };
}

/** Returns the service's answer, or the reason that there is none. */
export async function answerOrReason<T>(
  read: () => Promise<T>,
): Promise<{ readonly value?: T; readonly unread?: string }> {
  try {
    return { value: await read() };
  } catch (error) {
    if (!(error instanceof PaymentsApiError)) throw error;
    return { unread: error.words };
  }
}

/**
 * Returns null if the service doesn't have the thing, doesn't accept the id, or answers with another
 * thing, which it may call by that text.
 */
export async function unlessUnknown<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof OtherRecordError) return null;
    if (error instanceof PaymentsApiError && [400, 404, 422].includes(error.status ?? 0)) {
      return null;
    }
    throw error;
  }
}

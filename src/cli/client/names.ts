import type { NamedView, Search } from "../../api/names.ts";
import { SearchBody } from "../../api/names.ts";
import type { NamedKind } from "../../domain/names.ts";
import { formatUsd } from "../../domain/money.ts";
import { CliError, EXIT, unavailable } from "../terminal/cli-error.ts";
import { shellWord } from "../../domain/shell-word.ts";
import { dim, printable, textTable } from "../terminal/text.ts";
import { counted } from "../../domain/counted.ts";
import type { GatewayClient } from "./gateway-client.ts";

export interface AskedName {
  readonly kind: NamedKind;
  /** The text as typed: an id, a number, a name, a short name. */
  readonly text: string;
  readonly business?: string | undefined;
  /** Limits the search to bills of this run. */
  readonly run?: string | undefined;
  /** True if the text may also mean bills that have ended. */
  readonly overToo?: true;
  /** The most likely states, used if a name matches several things. */
  readonly likely?: readonly string[];
  /** What to type instead if a name matches several things. */
  readonly otherwise?: string;
}

/** The word that messages use for each kind. */
const WORD: Readonly<Record<NamedKind, string>> = {
  bill: "bill",
  vendor: "vendor",
  payment: "payment",
  account: "funding account",
  run: "run",
  playbook: "playbook",
  hold: "hold",
};

/**
 * Returns the one thing that a person means.
 *
 * @throws {CliError} 2 with the candidates if the text is ambiguous, or with the nearest ones if
 *   nothing matches; 4 if only the service could tell and it can't be reached
 */
export async function findMeant(gateway: GatewayClient, asked: AskedName): Promise<NamedView> {
  const found = await search(gateway, asked);
  const likely = found.exact.filter(({ state }) => asked.likely?.includes(state ?? "") === true);
  const [only, ...others] = likely.length > 0 ? likely : found.exact;
  if (only === undefined) throw unknown(asked, found);
  if (others.length > 0) throw ambiguous(asked, [only, ...others]);
  return only;
}

/** Does what `findOne` does for each text in turn; returns each thing once. */
export async function findEachMeant(
  gateway: GatewayClient,
  texts: readonly string[],
  asked: Omit<AskedName, "text">,
): Promise<NamedView[]> {
  const found = new Map<string, NamedView>();
  for (const text of texts) {
    const one = await findMeant(gateway, { ...asked, text });
    found.set(one.id, one);
  }
  return [...found.values()];
}

/**
 * Returns the scheduled payments that a person means: one by its id, or all of the named bill.
 *
 * @throws {CliError} as `findOne`
 */
export async function findScheduled(
  gateway: GatewayClient,
  text: string,
  business: string | undefined,
): Promise<NamedView[]> {
  const asked: AskedName = { kind: "payment", text, business };
  const found = await search(gateway, asked);
  if (found.exact.length === 0) throw await unscheduled(gateway, asked, found);
  const bills = new Set(found.exact.map(({ payableId, id }) => payableId ?? id));
  if (bills.size > 1) throw ambiguous(asked, found.exact);
  return [...found.exact];
}

/** A bill without any payment yet is not a payment, but its name is not unknown either. */
async function unscheduled(
  gateway: GatewayClient,
  asked: AskedName,
  found: Search,
): Promise<CliError> {
  if (found.near.length > 0 || found.unread.length > 0) return unknown(asked, found);
  const [bill] = (await search(gateway, { ...asked, kind: "bill", overToo: true })).exact;
  if (bill === undefined) return unknown(asked, found);
  const what = `“${asked.text}” has no payment that is scheduled or held, and none before`;
  return new CliError(EXIT.usage, what, {
    code: "not_found",
    details: { candidates: [] },
    hint: `“payrun hold ${bill.number ?? bill.id} --reason …” keeps it from being paid.`,
  });
}

async function search(gateway: GatewayClient, asked: AskedName): Promise<Search> {
  const { kind, text, business, run, overToo } = asked;
  const query = new URLSearchParams({ q: text, kind });
  if (business !== undefined) query.set("business", business);
  if (run !== undefined) query.set("run", run);
  if (overToo !== undefined) query.set("overToo", "true");
  return gateway.get(`/v1/search?${query.toString()}`, SearchBody);
}

/** Formats things to choose from: the familiar name first, the id dimmed at the end. */
function namedLines(items: readonly NamedView[]): string[] {
  const rows = items.map(({ id, number, name, amountCents, state, business }) => [
    printable(number ?? name ?? id),
    printable(number === null ? "" : (name ?? "")),
    amountCents === null ? "" : formatUsd(amountCents),
    printable(state ?? ""),
    dim(`${printable(id)}  ${business}`),
  ]);
  return textTable([{}, {}, { align: "right" }, {}, {}], rows).map((line) => `  ${line}`);
}

function ambiguous({ kind, text, otherwise }: AskedName, items: readonly NamedView[]): CliError {
  const businesses = new Set(items.map(({ business }) => business));
  const lines = namedLines(items.slice(0, SHOWN_MOST));
  const more = items.length > SHOWN_MOST ? [`  … ${items.length - SHOWN_MOST} more`] : [];
  const hint =
    businesses.size === items.length
      ? "Say which business: --business NAME."
      : (otherwise ?? "Name one by its number or its id.");
  const what = `“${text}” may be any of ${counted(items.length, WORD[kind])}:`;
  return new CliError(EXIT.usage, [what, ...lines, ...more].join("\n"), {
    code: "ambiguous",
    details: { candidates: items },
    hint,
  });
}

function unknown({ kind, text, run }: AskedName, { near, unread }: Search): CliError {
  const where = run === undefined ? "" : ` in ${run}`;
  const [service] = unread;
  if (service !== undefined) {
    return unavailable(
      "service_unreachable",
      `the store knows no ${WORD[kind]} “${text}”${where}, and the service of ${service.business} can't be asked: ${service.message}`,
      "“payrun doctor” looks at everything.",
    );
  }
  const isPaid = kind === "payment" && near.some(({ payableId }) => payableId != null);
  const what = isPaid
    ? `“${text}” has no payment that is scheduled or held:`
    : `there is no ${WORD[kind]} “${text}”${where}${near.length === 0 ? "" : nearText(kind)}`;
  const lines = namedLines(near.slice(0, SHOWN_MOST));
  return new CliError(EXIT.usage, [what, ...lines].join("\n"), {
    code: "not_found",
    details: { candidates: near },
    ...(kind === "run" ? { hint: runHint(text) } : {}),
    ...(isPaid ? { hint: NOT_SCHEDULED } : {}),
  });
}

/** Accounts are few, so all of them are listed. */
function nearText(kind: NamedKind): string {
  return kind === "account" ? "; there are:" : "; the nearest:";
}

const NOT_SCHEDULED =
  "“payrun hold BILL” keeps a bill from being paid; a payment's id finds it whatever its status.";

/** The list of runs shows a failed bill under its number. */
function runHint(text: string): string {
  return /^(BILL-|pbl_)/i.test(text)
    ? `That is a bill: payrun explain ${shellWord(text)} says what happened to it.`
    : "“payrun status” lists the runs.";
}

/** Candidates that one refusal shows. */
const SHOWN_MOST = 10;

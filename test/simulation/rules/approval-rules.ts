import { LARGE_CENTS, type PayingHabits, PLANS_BESIDE } from "../company/playbooks.ts";
import type { SaidByPeople } from "../company/said.ts";
import type { Book } from "../service/book.ts";
import type { SendRow, StoreFacts } from "./store-facts.ts";
import { Violation } from "./violation.ts";

/** What people and playbooks have said, taken from outside the engine's store. */
export interface Word {
  readonly said: SaidByPeople;
  readonly paying: PayingHabits;
  readonly facts: StoreFacts;
  readonly book: Book;
}

export const OWNERS: readonly string[] = ["olga"];
const APPROVERS: readonly string[] = ["carla", "carl", ...OWNERS];

/** Checks with people, and not with the store, whether a send was approved and released. */
export function checkWord(word: Word, sent: SendRow): void {
  if (sent.path === "/v1/balance/deposits") checkDeposit(word, sent);
  if (!word.book.payables.has(sent.subject)) return;
  checkIsPaid(word, sent);
  checkQuorum(word, sent);
  checkReleased(word, sent);
}

/** Nothing is sent for a plan-only run. */
function checkIsPaid({ facts }: Word, { subject, approvedHash }: SendRow): void {
  const playbooks = facts.runsOfLine(subject, approvedHash).map(playbookOf);
  if (playbooks.length === 0 || playbooks.some((name) => name !== PLANS_BESIDE.name)) return;
  const what = `${subject} is sent, and only ${PLANS_BESIDE.name} has planned it so, which only plans`;
  throw new Violation("only-planned", what, subject);
}

/** As many people as the playbook requires have approved this bill with this amount. */
function checkQuorum({ said, paying, facts }: Word, sent: SendRow): void {
  const { subject, approvedHash, openedMs } = sent;
  const cents = centsOf(sent);
  const counts = facts.runsOfLine(subject, approvedHash).map((runId) => {
    const needsOwner = cents > (paying.ownerOverCents.get(playbookOf(runId)) ?? Infinity);
    const who = needsOwner ? OWNERS : APPROVERS;
    const approvals = [...said.approvals].filter(
      (each) =>
        each.runId === runId &&
        each.atMs <= openedMs &&
        each.cents.get(subject) === cents &&
        who.includes(each.who),
    );
    const people = new Set(approvals.map((each) => each.who)).size;
    return { people, needed: needsOwner ? 1 : paying.quorum };
  });
  if (counts.some(({ people, needed }) => people >= needed)) return;
  const had = counts.map(({ people, needed }) => `${people} of ${needed}`).join(", ") || "none";
  const what = `${cents} cents are sent for ${subject}, and people who said yes to that were ${had}`;
  throw new Violation("approved-by-people", what, subject);
}

/** A withheld bill is sent only after a person has released it. */
function checkReleased({ said, paying, book }: Word, sent: SendRow): void {
  const [first] = book.payables.get(sent.subject)?.totals ?? [];
  const isLarge = (first?.cents ?? 0) > LARGE_CENTS && centsOf(sent) > LARGE_CENTS;
  if (!paying.withholdsLarge || !isLarge || said.releasedBills.has(sent.subject)) return;
  const what = `${sent.subject} is sent, which is withheld, and nobody has released it`;
  throw new Violation("withheld-until-released", what, sent.subject);
}

/** A deposit is made only after a person has approved exactly it, and not after a rejection. */
function checkDeposit({ said }: Word, { subject, approvedHash, openedMs }: SendRow): void {
  const refusedMs = said.rejectedDeposits.get(approvedHash) ?? Infinity;
  if (said.approvedDeposits.has(approvedHash) && openedMs <= refusedMs) return;
  const why = refusedMs < openedMs ? "it was refused" : "nobody has approved it";
  throw new Violation("deposits-as-approved", `${subject} is made, and ${why}`, subject);
}

function centsOf({ body }: SendRow): number {
  return Number(/"amountCents":(\d+)/.exec(body)?.[1] ?? 0);
}

export function playbookOf(runId: string): string {
  return runId.split("/")[2] ?? "";
}

import { definedOnly } from "../../contracts/defined-only.ts";
import { type BillSum, NOTHING, plus } from "../counted.ts";
import type { ApprovalStage } from "../../contracts/playbook.ts";
import { rolesOfLine } from "./changed-records.ts";
import { principalOf, quorumOf } from "../../contracts/principal.ts";
import {
  deciders,
  neededIn,
  openStageOf,
  type StageApproval,
  type StagedLine,
  type Turn,
  turnOf,
} from "./stages.ts";

/** A line's rule, and who has approved exactly this line so far. */
export interface LineUnderApproval {
  readonly approvers: readonly string[];
  readonly quorum: number;
  /** Missing if the rule has one quorum and no stages. */
  readonly stages?: readonly ApprovalStage[] | undefined;
  /** Valid approvals, at most one for each principal. */
  readonly approvals: readonly StageApproval[];
  /** The escalated stage, from 0; null if none was. */
  readonly escalated: number | null;
  /** True if its approvers are asked whether the vendor's account is still right. */
  readonly asksRecord?: boolean;
}

/** The approval that a line waits for. */
export interface MissingApproval {
  /** Roles that may decide now. */
  readonly by: readonly string[];
  readonly quorum: number;
  /** Approvals given so far. */
  readonly approvals: number;
  /** The open stage, from 1; missing unless the rule has several. */
  readonly stage?: number | undefined;
  readonly stages?: number | undefined;
  /** True if it is no approval, but a word whether the vendor's account is still right. */
  readonly aboutRecord?: true | undefined;
}

export interface Person {
  readonly name: string;
  readonly roles: ReadonlySet<string>;
}

/** What one person's approval means for a line that waits. */
export type LineShare =
  /** With this approval, none is missing any more. */
  | { readonly kind: "goes-out" }
  /** It counts, but other approvals are needed as well. */
  | { readonly kind: "one-of"; readonly missing: MissingApproval }
  /** The person has given it already; other approvals are missing. */
  | { readonly kind: "given"; readonly missing: MissingApproval }
  /** It doesn't count: other people decide, or decide first. */
  | { readonly kind: "none"; readonly missing: MissingApproval }
  /** No approval is missing any more. */
  | { readonly kind: "approved" };

/** Returns the approval that a line still lacks; null if none. */
export function missingOf(line: LineUnderApproval): MissingApproval | null {
  if (line.stages === undefined) {
    const approvals = quorumOf(line.approvals.map(({ principal }) => principal));
    const quorum = neededIn(line.quorum, line.approvals);
    return approvals >= quorum ? askedOf(line) : { by: line.approvers, quorum, approvals };
  }
  const staged: StagedLine = { ...line, stages: line.stages };
  const open = openStageOf(staged);
  if (open === null) return askedOf(line);
  const here = line.approvals.filter(({ stage }) => stage === open);
  return {
    by: deciders(staged, open),
    quorum: neededIn(line.stages[open]?.quorum ?? 1, here),
    approvals: here.length,
    ...(line.stages.length === 1 ? {} : { stage: open + 1, stages: line.stages.length }),
  };
}

/** Returns the question about an approved line's vendor; null if there is none. */
function askedOf(line: LineUnderApproval): MissingApproval | null {
  if (line.asksRecord !== true) return null;
  return { by: rolesOfLine(line, line.escalated), quorum: 1, approvals: 0, aboutRecord: true };
}

/** Returns what an approval by this person would do for the line. */
export function shareOf(line: LineUnderApproval, person: Person): LineShare {
  const missing = missingOf(line);
  if (missing === null) return { kind: "approved" };
  if (missing.aboutRecord === true) return { kind: "none", missing };
  const turn = turnFor(line, person);
  if (turn.kind !== "counts")
    return { kind: hasApproved(line, person) ? "given" : "none", missing };
  if (hasApproved(line, person)) return { kind: "given", missing };
  const mine = { stage: turn.stage, principal: principalOf(person.name) };
  const after = missingOf({ ...line, approvals: [...line.approvals, mine] });
  return after === null ? { kind: "goes-out" } : { kind: "one-of", missing: after };
}

/**
 * True if this person's rejection of the line counts. It counts even before their stage is open,
 * because stopping is safe.
 */
export function mayReject(line: LineUnderApproval, person: Person): boolean {
  return turnFor(line, person).kind !== "no-say";
}

/** True if no approval is missing, but one would be without this person's. */
export function owesItTo(line: LineUnderApproval, name: string): boolean {
  const me = principalOf(name);
  const approvals = line.approvals.filter(({ principal }) => principalOf(principal) !== me);
  return missingOf(line) === null && missingOf({ ...line, approvals }) !== null;
}

/** True if the person has approved exactly this line. */
export function hasApproved(
  { approvals }: LineUnderApproval,
  { name }: Pick<Person, "name">,
): boolean {
  const me = principalOf(name);
  return approvals.some(({ principal }) => principalOf(principal) === me);
}

function turnFor(line: LineUnderApproval, { name, roles }: Person): Turn {
  if (line.stages !== undefined) {
    return turnOf({ ...line, stages: line.stages }, { principal: name, roles });
  }
  return line.approvers.some((role) => roles.has(role))
    ? { kind: "counts", stage: 0, escalated: false }
    : { kind: "no-say" };
}

/** Bills that wait for the same approval. */
export interface WaitingLines extends MissingApproval {
  readonly lines: number;
  readonly totalCents: number;
}

/** Sums bills by the approval that they wait for, in the order in which each was first added. */
export class WaitingSums {
  readonly #groups = new Map<string, WaitingLines>();

  add(missing: MissingApproval, { count, cents }: BillSum): void {
    const key = JSON.stringify(missing);
    const group = this.#groups.get(key);
    this.#groups.set(key, {
      ...missing,
      lines: (group?.lines ?? 0) + count,
      totalCents: (group?.totalCents ?? 0) + cents,
    });
  }

  all(): readonly WaitingLines[] {
    return [...this.#groups.values()];
  }
}

/** What one person's approval of a plan would do for all its bills that wait. */
export interface ApprovalShare {
  /** Bills that go out because of it. */
  readonly goesOut: BillSum;
  /**
   * Bills whose execution date has passed. They are among those that go out, unless the new date
   * needs an approval of its own. Missing if there are none.
   */
  readonly newDates?: NewDates;
  /** Bills that would go out if no hold kept them back. */
  readonly onHold: BillSum;
  /** Missing if there are none. */
  readonly notSent?: readonly NotSent[];
  /** Bills for which it counts, but which need other approvals as well. */
  readonly oneOfSeveral: readonly WaitingLines[];
  /** Bills that the person has approved before, and that need other approvals as well. */
  readonly given: readonly WaitingLines[];
  /** Bills for which it doesn't count. */
  readonly none: readonly WaitingLines[];
}

/** The new date of a line that is sent now although its own date has passed. */
export interface NewDate {
  /** YYYY-MM-DD. */
  readonly executionDate: string;
  /** True if a person must approve the new date. */
  readonly asksAgain: boolean;
}

/** Approved bills whose execution date has passed, with their new date. */
export interface NewDates extends BillSum, NewDate {}

/**
 * A vendor or a single bill that has changed since it was planned, so that what was approved of it
 * is not sent.
 */
export interface OtherNow {
  /** Null if the vendor has changed, which concerns all its bills. */
  readonly payableId: string | null;
  readonly contactId: string;
  readonly contactName: string | null;
  /** The reason, as a sentence. */
  readonly text: string;
}

/** Bills that are not sent, because they or their vendor have changed since they were planned. */
export interface NotSent extends BillSum, OtherNow {}

/** Sums bills that are not sent: by vendor, or by bill if the bill itself has changed. */
export class NotSentSums {
  readonly #sums = new Map<string, NotSent>();

  add(other: OtherNow, bills: BillSum): void {
    const key = `${other.contactId} ${other.payableId ?? ""}`;
    this.#sums.set(key, { ...other, ...plus(this.#sums.get(key) ?? NOTHING, bills) });
  }

  /** Returns the sums as a field; no field if there are none. */
  shown(): { readonly notSent?: readonly NotSent[] } {
    return this.#sums.size === 0 ? {} : { notSent: [...this.#sums.values()] };
  }
}

/** Sums up what one person's approval does, one group of bills after another. */
export class ShareSums {
  #goesOut = NOTHING;
  #newDates: NewDates | undefined;
  #onHold = NOTHING;
  readonly #notSent = new NotSentSums();
  readonly #oneOf = new WaitingSums();
  readonly #given = new WaitingSums();
  readonly #none = new WaitingSums();

  /**
   * Adds bills for which the approval means the same.
   *
   * @param isHeld true if a hold keeps the bills from going out
   * @param other set if the bills or their vendor have changed since they were planned
   * @param newDate set if their execution date has passed
   */
  add(
    share: LineShare,
    {
      bills,
      isHeld,
      other,
      newDate,
    }: {
      readonly bills: BillSum;
      readonly isHeld: boolean;
      readonly other?: OtherNow | undefined;
      readonly newDate?: NewDate | undefined;
    },
  ): void {
    switch (share.kind) {
      case "goes-out":
        if (isHeld) {
          this.#onHold = plus(this.#onHold, bills);
          return;
        }
        if (other !== undefined) {
          this.#notSent.add(other, bills);
          return;
        }
        if (newDate?.asksAgain !== true) this.#goesOut = plus(this.#goesOut, bills);
        if (newDate !== undefined) {
          this.#newDates = { ...newDate, ...plus(this.#newDates ?? NOTHING, bills) };
        }
        return;
      case "one-of":
        this.#oneOf.add(share.missing, bills);
        return;
      case "given":
        this.#given.add(share.missing, bills);
        return;
      case "none":
        this.#none.add(share.missing, bills);
        return;
      case "approved":
    }
  }

  share(): ApprovalShare {
    return {
      goesOut: this.#goesOut,
      ...definedOnly({ newDates: this.#newDates }),
      onHold: this.#onHold,
      ...this.#notSent.shown(),
      oneOfSeveral: this.#oneOf.all(),
      given: this.#given.all(),
      none: this.#none.all(),
    };
  }
}

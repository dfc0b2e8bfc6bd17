/** Something that a person has said and that was acknowledged. */
export interface Said {
  readonly kind: "hold" | "drop" | "cancel-run" | "reject";
  /**
   * Its bill or vendor; neither if it is about a whole run, or, for a hold without any, everything.
   */
  readonly payableId?: string;
  readonly contactId?: string;
  readonly runId?: string;
  readonly holdId?: string;
  /** When its acknowledgement arrived. */
  readonly atMs: number;
  /** When a person asked to take it back. */
  untilMs: number;
}

/** An approval of a run's plan that counts or may count: its answer may have been lost. */
export interface Approval {
  readonly who: string;
  readonly runId: string;
  /** The plan's cents for each bill, without the dropped ones. */
  readonly cents: ReadonlyMap<string, number>;
  /** When the approval was requested. */
  readonly atMs: number;
}

/** What people have said so far; rules hold the engine to it. */
export class SaidByPeople {
  readonly all: Said[] = [];
  readonly approvals = new Set<Approval>();
  /** Bills whose withholding a person may have released. */
  readonly releasedBills = new Set<string>();
  /**
   * Hashes of the deposits that may have been approved, and of those that were certainly refused.
   */
  readonly approvedDeposits = new Set<string>();
  readonly rejectedDeposits = new Map<string, number>();
  /** By hold: it may be released before its author has received the acknowledgement. */
  readonly #takenBackMs = new Map<string, number>();

  note(said: Omit<Said, "untilMs">): void {
    this.all.push({ ...said, untilMs: this.#takenBackMs.get(said.holdId ?? "") ?? Infinity });
  }

  /** @returns takes the approval back if it certainly doesn't count */
  noteApproval(approval: Approval): () => void {
    this.approvals.add(approval);
    return () => this.approvals.delete(approval);
  }

  /** Forgets what was said after an instant, because a restored store can't know it. */
  forget(sinceMs: number, nowMs: number): void {
    for (const said of this.all) {
      if (said.atMs > sinceMs) said.untilMs = Math.min(said.untilMs, nowMs);
    }
    for (const [hash, atMs] of this.rejectedDeposits) {
      if (atMs > sinceMs) this.rejectedDeposits.delete(hash);
    }
  }

  takeBack(holdId: string, atMs: number): void {
    this.#takenBackMs.set(holdId, atMs);
    for (const said of this.all) {
      if (said.holdId === holdId) said.untilMs = Math.min(said.untilMs, atMs);
    }
  }
}

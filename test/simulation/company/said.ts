/** Something that people have said, and that was acknowledged. */
export interface Said {
  readonly kind: "hold" | "drop" | "cancel-run" | "reject";
  /** What it is about: a bill, a vendor, or nothing but the run; a hold with none of them, everything. */
  readonly payableId?: string;
  readonly contactId?: string;
  readonly runId?: string;
  readonly holdId?: string;
  /** When its acknowledgement had arrived. */
  readonly atMs: number;
  /** When somebody asked to take it back. */
  untilMs: number;
}

/** Somebody has approved a run's plan, or may have: its answer need not have arrived. */
export interface Approval {
  readonly who: string;
  readonly runId: string;
  /** What the plan said of each bill, in cents; without those that were left out. */
  readonly cents: ReadonlyMap<string, number>;
  /** When it was asked for. */
  readonly atMs: number;
}

/** What people have said so far; rules hold the engine to it. */
export class SaidByPeople {
  readonly all: Said[] = [];
  readonly approvals = new Set<Approval>();
  /** Bills whose withholding somebody may have lifted. */
  readonly releasedBills = new Set<string>();
  /** Deposits by their hash: which somebody may have approved, and which were certainly refused. */
  readonly approvedDeposits = new Set<string>();
  readonly rejectedDeposits = new Map<string, number>();
  /** By hold; somebody may have lifted it before whoever set it has its acknowledgement. */
  readonly #takenBackMs = new Map<string, number>();

  note(said: Omit<Said, "untilMs">): void {
    this.all.push({ ...said, untilMs: this.#takenBackMs.get(said.holdId ?? "") ?? Infinity });
  }

  /** @returns takes it back, where it certainly doesn't count */
  noteApproval(approval: Approval): () => void {
    this.approvals.add(approval);
    return () => this.approvals.delete(approval);
  }

  /** Nobody can hold the engine to what was said after an instant. */
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

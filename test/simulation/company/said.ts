/** Something that people have said, and that was acknowledged. */
export interface Said {
  readonly kind: "hold" | "drop" | "cancel-run" | "reject";
  /** What it is about: a bill, a vendor, or nothing but the run. */
  readonly payableId?: string;
  readonly contactId?: string;
  readonly runId?: string;
  readonly holdId?: string;
  /** When its acknowledgement had arrived. */
  readonly atMs: number;
  /** When somebody asked to take it back. */
  untilMs: number;
}

/** What people have said so far; rules hold the engine to it. */
export class SaidByPeople {
  readonly all: Said[] = [];

  note(said: Omit<Said, "untilMs">): void {
    this.all.push({ ...said, untilMs: Infinity });
  }

  /** Nobody can hold the engine to what was said after an instant. */
  forget(sinceMs: number, nowMs: number): void {
    for (const said of this.all) {
      if (said.atMs > sinceMs) said.untilMs = Math.min(said.untilMs, nowMs);
    }
  }

  takeBack(holdId: string, atMs: number): void {
    for (const said of this.all) {
      if (said.holdId === holdId) said.untilMs = Math.min(said.untilMs, atMs);
    }
  }
}

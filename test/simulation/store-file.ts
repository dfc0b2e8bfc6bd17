import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readSync,
  rmSync,
  truncateSync,
} from "node:fs";
import type { Stream } from "./world/random.ts";

const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** The store's file on its disk: copied as a backup, put back, and cut short with the power. */
export class StoreFile {
  readonly #path: string;
  /** Frames of the write-ahead log that are safely on the disk. */
  #flushedFrames = 0;
  #frames = 0;
  #pageBytes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Something was committed. What came before it in the log is flushed with it. */
  committed(isFlushed: boolean): void {
    this.#readLog();
    if (isFlushed) this.#flushedFrames = this.#frames;
  }

  get hasUnflushed(): boolean {
    return this.#frames > this.#flushedFrames;
  }

  /** What a backup of a running store holds: all that was committed. */
  copy(): void {
    for (const more of ["", "-wal"]) {
      rmSync(this.#copyOf(more), { force: true });
      if (existsSync(this.#path + more)) copyFileSync(this.#path + more, this.#copyOf(more));
    }
  }

  /** Puts the copy in the file's place; nobody has it open. */
  putBack(): void {
    // As people do who have copied the log as well.
    rmSync(`${this.#path}-file`, { force: true });
    for (const more of ["", "-wal", "-shm"]) {
      rmSync(this.#path + more, { force: true });
      if (existsSync(this.#copyOf(more))) copyFileSync(this.#copyOf(more), this.#path + more);
    }
    this.#flushedFrames = this.#frames;
  }

  /**
   * Cuts from the copy what was written and not flushed, from any point on: SQLite takes a log up
   * to its last whole commit.
   *
   * @returns how many pages are lost
   */
  cut(lots: Stream): number {
    const kept = lots.chance(0.7)
      ? this.#flushedFrames
      : lots.between(this.#flushedFrames, this.#frames);
    const bytes = WAL_HEADER_BYTES + kept * (FRAME_HEADER_BYTES + this.#pageBytes);
    truncateSync(this.#copyOf("-wal"), bytes);
    const lost = this.#frames - kept;
    this.#frames = kept;
    return lost;
  }

  #copyOf(more: string): string {
    return `${this.#path}.copy${more}`;
  }

  /** What the log's index says: how long the log is that everybody reads. */
  #readLog(): void {
    const header = Buffer.alloc(24);
    const file = openSync(`${this.#path}-shm`, "r");
    readSync(file, header, 0, header.length, 0);
    closeSync(file);
    this.#frames = header.readUInt32LE(16);
    this.#pageBytes = header.readUInt16LE(14);
  }
}

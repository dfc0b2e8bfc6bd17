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

/** The store's file on its disk: copied as a backup, restored, and cut short by a power failure. */
export class StoreFile {
  readonly #path: string;
  /** Frames of the write-ahead log that are safely on the disk. */
  #flushedFrames = 0;
  #frames = 0;
  #pageBytes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Called after a commit. A flush includes what came before it in the log. */
  committed(isFlushed: boolean): void {
    this.#readLog();
    if (isFlushed) this.#flushedFrames = this.#frames;
  }

  get hasUnflushed(): boolean {
    return this.#frames > this.#flushedFrames;
  }

  /** Copies what a backup of a running store holds: all commits. */
  copy(): void {
    for (const more of ["", "-wal"]) {
      rmSync(this.#copyOf(more), { force: true });
      if (existsSync(this.#path + more)) copyFileSync(this.#path + more, this.#copyOf(more));
    }
  }

  /** Puts the copy in the file's place; no process has it open. */
  putBack(): void {
    // As people do who have also copied the log.
    rmSync(`${this.#path}-file`, { force: true });
    for (const more of ["", "-wal", "-shm"]) {
      rmSync(this.#path + more, { force: true });
      if (existsSync(this.#copyOf(more))) copyFileSync(this.#copyOf(more), this.#path + more);
    }
    this.#flushedFrames = this.#frames;
  }

  /**
   * Cuts unflushed writes from the copy, from any point on: SQLite reads a log up to its last whole
   * commit.
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

  /** Reads from the log's index how long the log is for all readers. */
  #readLog(): void {
    const header = Buffer.alloc(24);
    const file = openSync(`${this.#path}-shm`, "r");
    readSync(file, header, 0, header.length, 0);
    closeSync(file);
    this.#frames = header.readUInt32LE(16);
    this.#pageBytes = header.readUInt16LE(14);
  }
}

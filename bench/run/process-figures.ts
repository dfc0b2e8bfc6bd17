import { readFileSync } from "node:fs";

export interface ProcessFigures {
  /** Processor time so far. */
  readonly cpuMs: number;
  /** The most memory that it ever held, in bytes. */
  readonly peakBytes: number;
}

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

/**
 * Returns what a process has used, as the Linux kernel reports it; undefined if there is no /proc.
 */
export function figuresOf(pid: number): ProcessFigures | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may contain spaces; user and system time are fields 14 and 15.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[11]) + Number(fields[12]);
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const peakKiB = Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0);
    return { cpuMs: ticks * TICK_MS, peakBytes: peakKiB * 1_024 };
  } catch {
    return undefined;
  }
}

import { spokenSecond } from "../../domain/clock/spoken.ts";
import type { Output } from "./output.ts";
import { dim, fitted, wrapped } from "./text.ts";
import { typeable } from "./typed.ts";

/** How a command shows changes while a person watches. */
interface LiveView {
  /**
   * @param line what is new, in one line
   * @param zone the zone of the times that the reader sees
   * @param whole returns the complete current state
   */
  show(line: string, zone: string, whole: () => readonly string[]): void;
  /** Shows the final state. */
  end(whole: readonly string[]): void;
}

/**
 * Returns one view that is kept up to date at a terminal; elsewhere, one that prints a line for
 * each change.
 */
export function liveView(output: Output): LiveView {
  if (output.json) return { show: () => {}, end: () => {} };
  return process.stdout.isTTY ? redrawn() : logged(output);
}

function logged(output: Output): LiveView {
  let last = "";
  return {
    show: (line, zone) => {
      if (line !== last) output.line(`${dim(spokenSecond(Date.now(), zone))}  ${line}`);
      last = line;
    },
    end: (whole) => {
      output.line();
      output.lines(whole);
    },
  };
}

const ESCAPE = String.fromCodePoint(27);

/** Returns a view in which each drawing replaces the previous one. */
function redrawn(): LiveView {
  let height = 0;
  const draw = (lines: readonly string[]): void => {
    const up = height === 0 ? "" : `${ESCAPE}[${height}A`;
    process.stdout.write(`${up}\r${ESCAPE}[J${lines.map((line) => `${line}\n`).join("")}`);
    height = lines.length;
  };
  const typed = (lines: readonly string[]) => lines.map((line) => typeable(line));
  return {
    show: (_, zone, whole) => {
      // A drawing taller or wider than the window can't be overwritten.
      const most = Math.max(5, (process.stdout.rows ?? 24) - 2);
      const lines = typed(whole())
        .flatMap((line) => wrapped(line, 0))
        .map((line) => fitted(line, 0));
      const hidden = lines.length - most;
      draw([
        ...(hidden > 0 ? [...lines.slice(0, most), dim(`… ${hidden} more lines`)] : lines),
        fitted(dim(`as of ${spokenSecond(Date.now(), zone)}; Ctrl-C ends only the watching`), 0),
      ]);
    },
    end: (whole) => draw(typed(whole)),
  };
}

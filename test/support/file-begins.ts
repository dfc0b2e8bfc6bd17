declare global {
  /** Set by `fixed-day.mjs` where a day was asked for. */
  var startDayAgain: (() => void) | undefined;
}

globalThis.startDayAgain?.();

export {};

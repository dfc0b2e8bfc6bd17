declare global {
  /** Set by `fixed-day.mjs` if the tests run on a given day. */
  var startDayAgain: (() => void) | undefined;
}

globalThis.startDayAgain?.();

export {};

import { setTimeout as sleep } from "node:timers/promises";
import { GRPC, grpcCode } from "./grpc.ts";

const TRIES = 20;
const LONGEST_PAUSE_MS = 500;

/**
 * Asks Temporal again while it has too much to do. A server answers only one question about a
 * schedule at a time, so that two processes which look at the same one meet often.
 *
 * @param ask changes nothing if it is refused
 */
export async function whileBusy<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (tries === TRIES || grpcCode(error) !== GRPC.resourceExhausted) throw error;
      await sleep(Math.random() * Math.min(LONGEST_PAUSE_MS, 50 * tries));
    }
  }
}

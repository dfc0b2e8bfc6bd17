import { reasonOf } from "../../process/repeat.ts";
import { noteUse, type Shown } from "../../store/approvals/uses.ts";
import type { GatewayContext } from "./context.ts";

/** A use is written down so often at most. */
const EACH_MS = 60_000;

/** Writes down from where tokens and sessions are used, and when last. */
export class TokenUses {
  readonly #context: Pick<GatewayContext, "store" | "log" | "nowMs">;
  #minute = -1;
  readonly #noted = new Set<string>();

  constructor(context: Pick<GatewayContext, "store" | "log" | "nowMs">) {
    this.#context = context;
  }

  /** Nobody waits for it, and none is refused where it fails. */
  note(shown: Shown, address: string): void {
    const { store, log } = this.#context;
    const nowMs = this.#context.nowMs();
    const minute = Math.floor(nowMs / EACH_MS);
    if (minute !== this.#minute) this.#noted.clear();
    this.#minute = minute;
    const key = `${shown.id} ${address}`;
    if (this.#noted.has(key)) return;
    this.#noted.add(key);
    void noteUse(store, shown, { address, nowMs }).catch((error: unknown) => {
      log.warn("a use is not written down", { reason: reasonOf(error) });
    });
  }
}

import { reasonOf } from "../../process/repeat.ts";
import { noteUse, type Shown } from "../../store/approvals/uses.ts";
import type { GatewayContext } from "./context.ts";

/** Within this period, a token's or session's use from one address is recorded only once. */
const EACH_MS = 60_000;

/** Records the addresses from which tokens and sessions are used, and when they were last used. */
export class TokenUses {
  readonly #context: Pick<GatewayContext, "store" | "log" | "nowMs">;
  #minute = -1;
  readonly #noted = new Set<string>();

  constructor(context: Pick<GatewayContext, "store" | "log" | "nowMs">) {
    this.#context = context;
  }

  /** Records a use in the background: requests don't wait for it, and its failure refuses none. */
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

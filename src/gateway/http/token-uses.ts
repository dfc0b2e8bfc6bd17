import { usedFromElsewhere } from "../../domain/facts/access.ts";
import { record } from "../../store/facts/record.ts";
import type { Transaction } from "kysely";
import { ownAddress } from "../../domain/notices/own-address.ts";
import { actsFor } from "../../domain/approvals/token.ts";
import { spokenTime } from "../../domain/clock/spoken.ts";
import { reasonOf } from "../../process/repeat.ts";
import { type HeldToken, noteUse, type CredentialShown } from "../../store/approvals/uses.ts";
import type { Tables } from "../../store/index.ts";
import type { GatewayContext } from "./context.ts";

/** Within this period, a token's or session's use from one address is recorded only once. */
const EACH_MS = 60_000;

type UsesContext = Pick<GatewayContext, "store" | "profiles" | "log" | "nowMs">;

/** Records the addresses from which tokens and sessions are used, and when they were last used. */
export class TokenUses {
  readonly #context: UsesContext;
  #minute = -1;
  readonly #noted = new Set<string>();

  constructor(context: UsesContext) {
    this.#context = context;
  }

  /** Records a use in the background: requests don't wait for it, and its failure refuses none. */
  note(shown: CredentialShown, address: string): void {
    const { store, log } = this.#context;
    const nowMs = this.#context.nowMs();
    const minute = Math.floor(nowMs / EACH_MS);
    if (minute !== this.#minute) this.#noted.clear();
    this.#minute = minute;
    const key = `${shown.id} ${address}`;
    if (this.#noted.has(key)) return;
    this.#noted.add(key);
    const onNewAddress = (trx: Transaction<Tables>, token: HeldToken) =>
      this.#notifyHolder(trx, token, { address, nowMs });
    void noteUse(store, shown, { address, nowMs, onNewAddress }).catch((error: unknown) => {
      log.warn("a use is not written down", { reason: reasonOf(error) });
    });
  }

  /** Notifies the holder of a token, through the first business that has an address of theirs. */
  async #notifyHolder(
    trx: Transaction<Tables>,
    { tokenId, name, principal, businesses }: HeldToken,
    { address, nowMs }: { readonly address: string; readonly nowMs: number },
  ): Promise<void> {
    const profile = this.#context.profiles
      .all()
      .find(
        ({ name: business, notify }) =>
          actsFor(businesses, business) &&
          notify !== undefined &&
          ownAddress(notify, principal) !== undefined,
      );
    if (profile === undefined) return;
    const { businessId, zone } = profile;
    const at = spokenTime(nowMs, zone);
    const used = { tokenId, name, principal, address, at };
    await record(trx, usedFromElsewhere({ businessId, nowMs }, used));
  }
}

import { BlockList, isIP } from "node:net";

/** The proxies in front of the gateway that are trusted to name the caller. */
export class Proxies {
  readonly #trusted = new BlockList();

  /** @param networks addresses and networks (`10.0.0.0/8`), as the setting has them */
  constructor(networks: readonly string[]) {
    for (const network of networks) {
      const [address = "", bits] = network.split("/");
      if (bits === undefined) this.#trusted.addAddress(address, familyOf(address));
      else this.#trusted.addSubnet(address, Number(bits), familyOf(address));
    }
  }

  has(address: string): boolean {
    const [unscoped = ""] = address.split("%");
    return isIP(unscoped) !== 0 && this.#trusted.check(unscoped, familyOf(unscoped));
  }

  /**
   * Returns the caller's address. Each proxy appends to `X-Forwarded-For` the address that
   * connected to it, so the header is read from its end, and only as long as the proxies are
   * trusted: a client can have written anything before that.
   *
   * @param peer the other end of the connection
   */
  callerOf(peer: string, forwardedFor = ""): string {
    let caller = peer;
    for (const heard of forwardedFor.split(",").toReversed()) {
      const address = heard.trim();
      if (!this.has(caller) || isIP(address) === 0) break;
      caller = address;
    }
    return caller;
  }
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}

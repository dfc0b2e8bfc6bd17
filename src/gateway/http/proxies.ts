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
      const address = addressIn(heard);
      if (!this.has(caller) || address === undefined) break;
      caller = address;
    }
    return caller;
  }
}

/**
 * Returns the address of an entry. Some proxies write the caller's port too, which no two
 * connections share, or put an address of IPv6 in brackets.
 */
function addressIn(entry: string): string | undefined {
  const text = entry.trim();
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? text;
  return isIP(address) === 0 ? undefined : address;
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}

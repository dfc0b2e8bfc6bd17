import type { BusinessProfile, Config } from "../../config.ts";
import { proxyFor, proxyForTemporal, unknownExceptions } from "../../outgoing/proxy.ts";
import { gatewayOf } from "../client/gateway-client.ts";
import { temporalOf } from "../home/running-file.ts";
import type { Check } from "./doctor-businesses.ts";

/** Something that is reached over a network, and the proxy on the way to it. */
interface Use {
  readonly what: string;
  readonly proxy: ReturnType<typeof proxyFor>;
}

/** Addresses that nobody excepts: whether the environment has a proxy at all. */
const ANYWHERE = ["http://anywhere.invalid", "https://anywhere.invalid"];

/** Says which of the environment's proxies is used for what; nothing if the environment has none. */
export function proxyChecks(config: Config): Check[] {
  if (ANYWHERE.every((address) => proxyFor(address) === undefined)) return [];
  const uses: Use[] = [
    { what: "Temporal", proxy: proxyForTemporal(temporalOf(config).address) },
    { what: "the gateway", proxy: proxyFor(gatewayOf(config).url) },
    ...config.profiles.all().flatMap(usesOf),
  ];
  const byWay = Map.groupBy(uses, ({ proxy }) =>
    proxy === undefined ? "none" : `${proxy.shown} (${proxy.variable})`,
  );
  const texts = [...byWay].map(
    ([way, those]) => `${way} for ${[...new Set(those.map(({ what }) => what))].join(", ")}`,
  );
  const text = [...texts, "never one for e-mail and PostgreSQL"].join("; ");
  return [{ name: "Proxies", state: "ok", text }, ...exceptionChecks()];
}

/** Says which exceptions are none, and so are reached through a proxy. */
function exceptionChecks(): Check[] {
  const unknown = unknownExceptions();
  if (unknown.length === 0) return [];
  const text = `NO_PROXY excepts nothing by ${unknown.join(", ")}`;
  const remedy = "Name hosts, addresses, or networks such as 10.0.0.0/8 or [fd00::]/8.";
  return [{ name: "Proxies", state: "warning", text, remedy }];
}

function usesOf({ name, apiUrl, notify, signIn }: BusinessProfile): Use[] {
  const posts = notify?.channels.flatMap((way) => ("url" in way ? [way] : [])) ?? [];
  const issuer = signIn?.provider?.issuer;
  return [
    { what: `the service of ${name}`, proxy: proxyFor(apiUrl) },
    ...posts.map(({ type, url }) => ({ what: `${type} of ${name}`, proxy: proxyFor(url) })),
    ...(issuer === undefined ? [] : [{ what: `sign-in of ${name}`, proxy: proxyFor(issuer) }]),
  ];
}

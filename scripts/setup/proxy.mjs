import { BlockList, isIP } from "node:net";
import process from "node:process";

import { messageOf } from "./setup-error.mjs";

/** @typedef {Readonly<Record<string, string | undefined>>} Env */

/**
 * @typedef {object} Proxy
 * @property {URL} url with a user and a password if the variable has them: shown to nobody
 * @property {string} shown the address without them
 * @property {string} variable where it stands
 */

/** The variables of each protocol; of two spellings, programs agree that the small one counts. */
const VARIABLES = {
  "http:": ["http_proxy", "HTTP_PROXY"],
  "https:": ["https_proxy", "HTTPS_PROXY"],
};
const EXCEPTIONS = ["no_proxy", "NO_PROXY"];
const PORTS = { "http:": 80, "https:": 443 };

/**
 * Decides through which proxy a request leaves, for all that Payrun sends over HTTP. What is on
 * this machine is never reached through one.
 *
 * @param {string} address
 * @param {Env} [env]
 * @returns {Proxy | undefined} undefined if it leaves without one
 * @throws {Error} if the variable names no proxy
 */
export function proxyFor(address, env = process.env) {
  const { protocol, hostname, port } = URL.parse(address) ?? {};
  if (hostname === undefined) return undefined;
  if (protocol !== "http:" && protocol !== "https:") return undefined;
  const variable = VARIABLES[protocol].find((name) => textOf(name, env) !== "");
  if (variable === undefined) return undefined;
  const host = bare(hostname);
  if (isLoopback(host) || isExcepted(host, Number(port) || PORTS[protocol], env)) {
    return undefined;
  }
  const url = urlIn(textOf(variable, env));
  if (url === undefined) throw new Error(problemOf(variable));
  return { url, shown: `${url.protocol}//${url.host}`, variable };
}

/**
 * Fetches what is at an address, through the proxy that the environment has for it.
 *
 * @param {string} address
 * @param {{ headers?: Record<string, string>, signal: AbortSignal }} options
 * @param {Env} [env]
 */
export async function fetchOut(address, options, env = process.env) {
  const proxy = proxyFor(address, env);
  if (proxy === undefined) return fetch(address, options);
  // Set-up has installed the packages before anything is fetched; without a proxy none is needed.
  const undici = await import("undici");
  return undici.fetch(address, { ...options, dispatcher: new undici.ProxyAgent(proxy.url.href) });
}

/**
 * Decides the same for Temporal, which counts as https, with or without TLS: a proxy only opens the
 * way to it.
 *
 * @param {string} address of the server, with or without a port
 * @param {Env} [env]
 * @returns {(Proxy & { target: string }) | undefined} with the server's address for the proxy
 * @throws {Error} if the variable names no proxy, or one that Temporal's clients can't use
 */
export function proxyForTemporal(address, env = process.env) {
  const bareAddress = address.replace(/^\w+:\/\//, "");
  const target = /:\d+$/.test(bareAddress) ? bareAddress : `${bareAddress}:7233`;
  const proxy = proxyFor(`https://${target}`, env);
  if (proxy === undefined) return undefined;
  if (proxy.url.protocol === "http:") return { ...proxy, target };
  throw new Error(
    `${proxy.variable} is an https:// address, and Temporal's clients reach a proxy over http:// only: name such a one, or Temporal's host in NO_PROXY`,
  );
}

/**
 * Returns what is wrong with the variables; never a value, which may hold a password.
 *
 * @param {Env} env
 * @param {string} temporalAddress
 * @returns {string[]}
 */
export function proxyProblems(env, temporalAddress) {
  const wrong = Object.values(VARIABLES)
    .flat()
    .filter((name) => textOf(name, env) !== "" && urlIn(textOf(name, env)) === undefined);
  if (wrong.length > 0) return wrong.map(problemOf);
  try {
    proxyForTemporal(temporalAddress, env);
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}

/** @param {string} variable */
function problemOf(variable) {
  return `${variable} must be the http:// or https:// address of a proxy, such as http://proxy.example.com:3128`;
}

/** @param {string} name @param {Env} env */
function textOf(name, env) {
  return env[name]?.trim() ?? "";
}

/** An address without a protocol is one of http, as everywhere. @param {string} text */
function urlIn(text) {
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  const isProxy = url !== null && /^https?:$/.test(url.protocol) && url.hostname !== "";
  return isProxy ? url : undefined;
}

/** Returns a host without the brackets of IPv6 and the dot of a full name. @param {string} host */
function bare(host) {
  return host
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");
// Who connects to “any address” reaches this machine.
LOOPBACK.addAddress("0.0.0.0", "ipv4");
LOOPBACK.addAddress("::", "ipv6");

/** @param {string} host */
function isLoopback(host) {
  return host === "localhost" || host.endsWith(".localhost") || isIn(LOOPBACK, host);
}

/** @param {BlockList} list @param {string} host */
function isIn(list, host) {
  const family = isIP(host);
  return family !== 0 && list.check(host, family === 6 ? "ipv6" : "ipv4");
}

/**
 * True if the host is one of the exceptions: `*`, a name with all names below it (`example.com`,
 * `.example.com`), only those below it (`*.example.com`), an address, or a network (`10.0.0.0/8`);
 * each may have a port.
 *
 * @param {string} host
 * @param {number} port
 * @param {Env} env
 */
function isExcepted(host, port, env) {
  return exceptionsIn(env).some((entry) => isNamedBy(entry, host, port));
}

/** @param {string} entry @param {string} host @param {number} port */
function isNamedBy(entry, host, port) {
  const { named, its } = partsOf(entry);
  if (its !== undefined && Number(its) !== port) return false;
  const network = networkOf(named);
  if (network !== undefined) return isIn(network, host);
  const name = named.replace(/^\*?\./, "");
  if (named === "*") return true;
  if (isIP(host) !== 0) return false;
  return host.endsWith(`.${name}`) || (host === name && !named.startsWith("*"));
}

/**
 * Takes an exception apart; brackets may stand around the whole or, before a network's length,
 * around the address alone, as people write IPv6.
 *
 * @param {string} entry
 */
function partsOf(entry) {
  const [, address, bits = "", plain, its] =
    /^(?:\[([^\]]*)\](\/\d+)?|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  return { named: bare(address === undefined ? (plain ?? entry) : address + bits), its };
}

/**
 * Returns the exceptions that name nothing, as they stand: they except nothing.
 *
 * @param {Env} [env]
 * @returns {string[]}
 */
export function unknownExceptions(env = process.env) {
  return exceptionsIn(env).filter((entry) => {
    const { named } = partsOf(entry);
    if (networkOf(named) !== undefined || named === "*") return false;
    return !/^(\*?\.)?[\p{L}\p{N}_-]+(\.[\p{L}\p{N}_-]+)*$/u.test(named);
  });
}

/** @param {Env} env */
function exceptionsIn(env) {
  const entries = EXCEPTIONS.flatMap((name) => textOf(name, env).split(/[\s,]+/));
  return entries.filter((entry) => entry !== "");
}

/**
 * @param {string} text an address, or a network such as `10.0.0.0/8`
 * @returns {BlockList | undefined} undefined if it is neither
 */
function networkOf(text) {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIP(address);
  const most = family === 6 ? 128 : 32;
  const length = bits === undefined ? most : /^\d+$/.test(bits) ? Number(bits) : -1;
  if (family === 0 || rest.length > 0 || length < 0 || length > most) return undefined;
  const list = new BlockList();
  list.addSubnet(address, length, family === 6 ? "ipv6" : "ipv4");
  return list;
}

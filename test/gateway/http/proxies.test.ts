import { expect, test } from "vitest";
import { Proxies } from "../../../src/gateway/http/proxies.ts";

const proxies = new Proxies(["10.0.3.4", "172.16.0.0/12", "fd00::/8"]);

test.each([
  ["without a header", "10.0.3.4", undefined, "10.0.3.4"],
  ["by one proxy", "10.0.3.4", "203.0.113.7", "203.0.113.7"],
  ["by one proxy, at an address of IPv6", "10.0.3.4", "2001:db8::7", "2001:db8::7"],
  ["by a proxy in a trusted network", "172.18.0.5", "203.0.113.7", "203.0.113.7"],
  ["by a proxy that a socket of IPv6 names", "::ffff:172.18.0.5", "203.0.113.7", "203.0.113.7"],
  ["by a proxy with an address of IPv6", "fd00::3%eth0", "203.0.113.7", "203.0.113.7"],
  ["with their port", "10.0.3.4", "203.0.113.7:51234", "203.0.113.7"],
  ["in brackets", "10.0.3.4", "[2001:db8::1]", "2001:db8::1"],
  ["in brackets, with their port", "10.0.3.4", "[2001:db8::1]:443", "2001:db8::1"],
  ["by two proxies that write ports", "10.0.3.4", "203.0.113.7:9, 172.18.0.5:443", "203.0.113.7"],
  ["by two proxies", "10.0.3.4", "203.0.113.7, 172.18.0.5", "203.0.113.7"],
])("a caller who comes %s is identified by their own address", (_how, peer, header, caller) => {
  expect(proxies.callerOf(peer, header)).toBe(caller);
});

test.each([
  ["who is no proxy writes", "203.0.113.9", "10.0.3.4", "203.0.113.9"],
  ["wrote before they reached a proxy", "10.0.3.4", "198.51.100.1, 203.0.113.7", "203.0.113.7"],
  ["wrote as if a proxy had", "10.0.3.4", "198.51.100.1, 172.18.0.5, 203.0.113.7", "203.0.113.7"],
  ["wrote that is no address", "10.0.3.4", "203.0.113.7, unknown", "10.0.3.4"],
  ["wrote that has more than a port", "10.0.3.4", "203.0.113.7:51234:8", "10.0.3.4"],
  ["wrote in brackets that is no address", "10.0.3.4", "[203.0.113]:443", "10.0.3.4"],
  ["wrote without a socket", "unknown", "203.0.113.7", "unknown"],
])("an address that somebody %s is ignored", (_what, peer, header, caller) => {
  expect(proxies.callerOf(peer, header)).toBe(caller);
});

test("no proxy is trusted by default", () => {
  expect(new Proxies([]).callerOf("127.0.0.1", "203.0.113.7")).toBe("127.0.0.1");
});

import { expect, test } from "vitest";
import {
  proxyFor,
  proxyForTemporal,
  proxyProblems,
  unknownExceptions,
} from "../../scripts/setup/proxy.mjs";

const PROXY = "http://proxy.example:3128";

test.each([
  ["https://service.example", { HTTPS_PROXY: PROXY }, "HTTPS_PROXY"],
  ["https://service.example", { https_proxy: PROXY }, "https_proxy"],
  ["http://service.example", { HTTP_PROXY: PROXY }, "HTTP_PROXY"],
  ["http://service.example", { http_proxy: PROXY }, "http_proxy"],
  [
    "https://service.example",
    { HTTPS_PROXY: "http://other.example", https_proxy: PROXY },
    "https_proxy",
  ],
  ["https://service.example", { HTTPS_PROXY: PROXY, https_proxy: " " }, "HTTPS_PROXY"],
  ["https://service.example", { HTTPS_PROXY: "proxy.example:3128" }, "HTTPS_PROXY"],
])("%s goes through the proxy of %j", (address, env, variable) => {
  expect(proxyFor(address, env)).toMatchObject({ shown: PROXY, variable });
});

test.each([
  ["without a proxy", "https://service.example", {}],
  ["of another protocol than the proxy's", "https://service.example", { HTTP_PROXY: PROXY }],
  [
    "of another protocol than HTTP",
    "postgres://db.example",
    { HTTPS_PROXY: PROXY, HTTP_PROXY: PROXY },
  ],
  ["by SMTP", "smtps://mail.example", { HTTPS_PROXY: PROXY, HTTP_PROXY: PROXY }],
])("a connection %s uses none", (_which, address, env) => {
  expect(proxyFor(address, env)).toBeUndefined();
});

test.each([
  "127.0.0.1",
  "127.1.2.3:8088",
  "localhost:7233",
  "LOCALHOST",
  "localhost.",
  "payrun.localhost",
  "[::1]:8088",
  "[::ffff:127.0.0.1]",
  "0.0.0.0:8088",
  "[::]",
])(
  "%s is this machine, which is reached without a proxy, whatever the environment says",
  (host) => {
    const env = { HTTPS_PROXY: PROXY, HTTP_PROXY: PROXY, https_proxy: PROXY, NO_PROXY: "" };
    expect(proxyFor(`https://${host}`, env)).toBeUndefined();
    expect(proxyFor(`http://${host}/`, env)).toBeUndefined();
    expect(proxyForTemporal(host, env)).toBeUndefined();
  },
);

const EXCEPTIONS: readonly (readonly [string, string, boolean])[] = [
  ["*", "a.example", true],
  ["a.example", "a.example", true],
  ["a.example", "b.a.example", true],
  ["a.example", "ba.example", false],
  ["A.Example.", "a.example.", true],
  [".a.example", "a.example", true],
  [".a.example", "b.a.example", true],
  ["*.a.example", "b.a.example", true],
  ["*.a.example", "a.example", false],
  ["a.example:443", "a.example", true],
  ["a.example:8443", "a.example", false],
  ["a.example:8443", "a.example:8443", true],
  ["x.example, a.example", "a.example", true],
  ["x.example a.example", "a.example", true],
  ["10.0.0.0/8", "10.2.3.4", true],
  ["10.0.0.0/8", "11.2.3.4", false],
  ["10.0.0.0/99", "10.2.3.4", false],
  ["10.2.3.4:443", "10.2.3.4", true],
  ["0.1", "10.2.0.1", false],
  ["2001:DB8:0::1", "[2001:db8::1]", true],
  ["[2001:db8::1]:8443", "[2001:db8::1]", false],
  ["2001:db8::/32", "[2001:db8::7]", true],
  ["[fd00::]/8", "[fd12::7]", true],
  ["[fd00::]/8", "[fe80::7]", false],
  ["[fd00::]/8:8443", "[fd12::7]", false],
  ["[fd00::/8]", "[fd12::7]", true],
  ["[fd00::/8]:443", "[fd12::7]", true],
  ["10.0.0.0/8:443", "10.2.3.4", true],
  ["10.0.0.0/8/8", "10.2.3.4", false],
  [",", "a.example", false],
];

test.each(EXCEPTIONS)("NO_PROXY=%s holds for %s: %s", (exceptions, host, isExcepted) => {
  for (const name of ["NO_PROXY", "no_proxy"]) {
    const found = proxyFor(`https://${host}`, { HTTPS_PROXY: PROXY, [name]: exceptions });
    expect(found === undefined, name).toBe(isExcepted);
  }
});

test("exceptions that name nothing are told from those that do", () => {
  const odd = ["10.0.0.0/99", "10.0.0.*", "fd00::/x", "[fd00::", "https://a.example", "a..example"];
  const sound = EXCEPTIONS.flatMap(([exceptions, , isExcepted]) => (isExcepted ? exceptions : []));
  const env = { NO_PROXY: [...sound, ...odd].join(","), no_proxy: "a.example/8" };
  expect(unknownExceptions(env).toSorted()).toEqual([...odd, "a.example/8"].toSorted());
  expect(unknownExceptions({})).toEqual([]);
});

test("both spellings of the exceptions count together", () => {
  const env = { HTTPS_PROXY: PROXY, NO_PROXY: "a.example", no_proxy: "b.example" };
  const hosts = ["a.example", "b.example", "c.example"].filter(
    (host) => proxyFor(`https://${host}`, env) !== undefined,
  );
  expect(hosts).toEqual(["c.example"]);
});

test("Temporal is reached through the proxy of https, with its own port unless it has another", () => {
  const env = { HTTPS_PROXY: PROXY, HTTP_PROXY: "http://other.example" };
  expect(proxyForTemporal("temporal.example", env)).toMatchObject({
    shown: PROXY,
    target: "temporal.example:7233",
  });
  expect(proxyForTemporal("temporal.example:443", env)?.target).toBe("temporal.example:443");
  const excepted = { ...env, NO_PROXY: "temporal.example:7233" };
  expect(proxyForTemporal("temporal.example", excepted)).toBeUndefined();
});

test("what is shown of a proxy has no user and no password", () => {
  const env = { HTTPS_PROXY: "http://ann:s3cret@proxy.example:3128/" };
  expect(proxyFor("https://a.example", env)?.shown).toBe(PROXY);
});

test.each(["socks5://ann:s3cret@proxy.example", "http://", "http://ann:s3cret@proxy:port"])(
  "a variable that names no proxy is refused by its name, without its value",
  (value) => {
    const env = { HTTPS_PROXY: value, http_proxy: PROXY };
    const problems = proxyProblems(env, "127.0.0.1:7233");
    expect(problems).toEqual([
      expect.stringMatching(/^HTTPS_PROXY must be the http:\/\/ or https/),
    ]);
    expect(problems.join()).not.toContain("s3cret");
    expect(() => proxyFor("https://a.example", env)).toThrow(problems[0]);
  },
);

test("a proxy that Temporal's clients can't use is refused if Temporal is behind it", () => {
  const env = { HTTPS_PROXY: "https://ann:s3cret@proxy.example" };
  expect(proxyProblems(env, "127.0.0.1:7233")).toEqual([]);
  const problems = proxyProblems(env, "temporal.example:7233");
  expect(problems).toEqual([expect.stringMatching(/^HTTPS_PROXY is an https:.*NO_PROXY/)]);
  expect(problems.join()).not.toContain("s3cret");
});

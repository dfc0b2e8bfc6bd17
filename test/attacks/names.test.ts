import { expect, test } from "vitest";
import { gatewayTest } from "../gateway/support/gateway-test.ts";
import { identitiesShape } from "../../src/config/identities.ts";
import { signersShape } from "../../src/config/signers.ts";
import { tokenNameProblem } from "../../src/domain/approvals/token.ts";
import { personNameProblem, principalOf, quorumOf } from "../../src/contracts/principal.ts";
import { makeSigner } from "../support/signing.ts";

const gatewayed = gatewayTest();

test.each([
  ["José", "Jose\u0301"],
  ["bob smith", "bob  smith"],
  ["bob smith", " Bob\u00a0Smith "],
  ["bob", "bo\u200bb"],
  ["bob", "\u202ebob"],
  ["bob", "ｂｏｂ"],
  ["ﬁona", "fiona"],
  ["Carol", "CAROL"],
  ["ΑΛΕΞΙΣ", "αλεξισ"],
  ["Groß", "GROSS"],
  ["bob", "bob\u2800"],
  ["bob smith", "bob\u2800smith"],
  ["Cora", "C\u043era"],
  ["Ada", "\u0410\u0501\u0430"],
  ["ANNA", "\u0391\u039d\u039d\u0391"],
  ["Zo\u00eb", "Zo\u0451"],
  ["launcher", "la\u03c5ncher"],
  ["launcher", "l\u0251uncher"],
  ["owner", "\u0585wner"],
  ["Ada", "\u13aada"],
  ["launcher", "\ua4e1auncher"],
  ["Mia", "\uff4d\u0456a"],
])("%j and %j are one person, who counts once", (one, other) => {
  expect(principalOf(one)).toBe(principalOf(other));
  expect(quorumOf([one, other])).toBe(1);
});

test.each([
  ["bob", "bobby"],
  ["José", "Jose"],
  ["bob smith", "bobsmith"],
  ["\u0418\u0432\u0430\u043d", "Ivan"],
  ["\u0410\u043d\u043d\u0430", "Anna"],
])("%j and %j are two people", (one, other) => {
  expect(quorumOf([one, other])).toBe(2);
});

test.each([
  "la\u03c5ncher",
  "l\u0430uncher",
  "\u0585wner",
  "\u0410\u0441\u0430",
  "\ua4e1auncher",
  "payrun",
  "Payrun",
  "temporal",
])("nobody is called %j: it mixes scripts, or looks like a Latin name or Payrun", (name) => {
  expect(tokenNameProblem(name)).toMatch(/^the name (mixes|looks like|is what Payrun)/);
  const [signers, identities] = inProfile(name);
  for (const { error } of [signers, identities]) {
    expect(
      error?.issues.map(({ path, message }) => `${path.at(-1)?.toString()} ${message}`),
    ).toEqual([expect.stringMatching(/^name (mixes|looks like|is what Payrun)/)]);
  }
});

/** Reads a profile's signers and identities, all of whom have this name. */
function inProfile(name: string) {
  const { keyId, publicKey } = makeSigner();
  const named = { name, roles: ["controller"] };
  const identity = { ...named, issuer: "https://id.example", subject: "007" };
  return [
    signersShape.safeParse({ [keyId]: { ...named, publicKey } }),
    identitiesShape.safeParse([identity]),
  ] as const;
}

test.each([
  "Zo\u00eb",
  "\u0418\u0432\u0430\u043d",
  "\u0391\u03bb\u03ad\u03be\u03b7\u03c2",
  "\u5c71\u7530 Hanako",
  "\ud64d\uae38\ub3d9",
  "O\u2019Neil",
  "erp-2026",
])("people may be called %j", (name) => {
  expect(personNameProblem(name)).toBeUndefined();
  for (const { error } of inProfile(name)) expect(error).toBeUndefined();
});

gatewayed.for<[string, string]>([
  ["launcher", "Iauncher"],
  ["carmen", "carrnen"],
  ["bob", "b0b"],
])("beside %s nobody gets a token as %s", async ([known, alike], { gateway }) => {
  const admin = await gateway.token("ada", ["admin"]);
  await gateway.token(known, ["launcher"]);
  const make = (name: string) =>
    gateway.call("POST", "/v1/tokens", admin, { name, roles: ["controller"] });
  expect(await make(alike)).toMatchObject({ status: 409, json: { error: "look_alike" } });
  expect((await make(known)).status).toBe(201);
});

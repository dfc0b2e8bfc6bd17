import { expect, test } from "vitest";
import { accessTo } from "../../../src/domain/approvals/access.ts";
import { payRunPlaybook } from "../../support/pay-run-playbook.ts";

const rule = { review: false, overCents: null, where: null, quorum: 1 };
const playbook = payRunPlaybook({
  approve: [
    { ...rule, overCents: 1_000_000, by: ["owner"], quorum: 2 },
    { ...rule, by: ["controller"] },
  ],
});

const token = (tokenId: string, changes: object = {}) => ({
  ...{ tokenId, name: tokenId, roles: ["controller"], businesses: null },
  ...{ createdAtMs: 10, confirmedAtMs: 20, expiresAtMs: 100, revokedAtMs: null },
  ...changes,
});

const facts = (tokens: readonly ReturnType<typeof token>[], authors: readonly string[] = []) => ({
  ...{
    business: "acme",
    sandboxesOnly: false,
    tokens,
    signers: [],
    identities: [],
    playbook,
    authors,
  },
});

const names = (tokens: readonly ReturnType<typeof token>[], fromMs: number, toMs = fromMs) =>
  accessTo(facts(tokens), { fromMs, toMs })[1]?.people.map(({ name }) => name);

test("a person could approve from the confirmation of their token to its end, and not a moment longer", () => {
  expect(names([token("cora")], 19)).toEqual([]);
  expect(names([token("cora")], 20)).toEqual(["cora"]);
  expect(names([token("cora")], 99)).toEqual(["cora"]);
  expect(names([token("cora")], 100)).toEqual([]);
  expect(names([token("cora", { revokedAtMs: 50 })], 50)).toEqual([]);
  expect(names([token("cora", { revokedAtMs: 50 })], 49)).toEqual(["cora"]);
});

test("access on a day lists everyone who could approve at any moment of it", () => {
  expect(names([token("cora")], 0, 19)).toEqual([]);
  expect(names([token("cora")], 0, 20)).toEqual(["cora"]);
  expect(names([token("cora", { revokedAtMs: 50 })], 40, 60)).toEqual(["cora"]);
});

test("access is listed by rule: who, in which roles, by which tokens, and whose approval doesn't count", () => {
  const tokens = [
    token("t1", { name: "Cora" }),
    token("t2", { name: "cora", roles: ["owner", "controller"] }),
    token("t3", { name: "eve" }),
    token("t4", { name: "other", businesses: ["beta"] }),
    token("t5", { name: "late", confirmedAtMs: null }),
  ];
  const signers = [{ keyId: "erp", name: "ERP", roles: ["controller"] }];
  const identities = [
    { issuer: "https://id.acme.example", subject: "00u1", name: "Dora", roles: ["controller"] },
  ];
  const span = { fromMs: 30, toMs: 30 };
  expect(accessTo({ ...facts(tokens, ["Eve"]), signers, identities }, span)).toEqual([
    {
      what: "bills over $10,000.00",
      roles: ["owner"],
      quorum: 2,
      people: [{ name: "cora", roles: ["owner"], by: ["t2"], isAuthor: false }],
    },
    {
      what: "every other bill",
      roles: ["controller"],
      quorum: 1,
      people: [
        { name: "Cora", roles: ["controller"], by: ["t1", "t2"], isAuthor: false },
        { name: "eve", roles: ["controller"], by: ["t3"], isAuthor: true },
        { name: "ERP", roles: ["controller"], by: ["key/erp"], isAuthor: false },
        {
          name: "Dora",
          roles: ["controller"],
          by: ["oidc/https://id.acme.example 00u1"],
          isAuthor: false,
        },
      ],
    },
  ]);
});

test("a playbook's only rule is listed as the rule for every bill", () => {
  const only = { ...facts([]), playbook: { ...playbook, approve: playbook.approve.slice(-1) } };
  expect(accessTo(only, { fromMs: 30, toMs: 30 }).map(({ what }) => what)).toEqual(["every bill"]);
});

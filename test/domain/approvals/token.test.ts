import { expect, test } from "vitest";
import {
  actsFor,
  confirmationProblem,
  coversBusinesses,
  roleProblem,
  tokenNameProblem,
  tokenProblem,
} from "../../../src/domain/approvals/token.ts";

const NOW = { nowMs: 100, sandboxesOnly: false };
const token = (changes: object = {}) => ({
  ...{ roles: ["controller"], confirmedAtMs: null, expiresAtMs: 101, revokedAtMs: null },
  ...{ createdBy: "Ada", createdByKind: "principal" as const, ...changes },
});

test("a token that may approve or administer counts once a second person has confirmed it", () => {
  for (const roles of [["controller"], ["admin"], ["viewer", "owner"]]) {
    expect(tokenProblem(token({ roles }), NOW)).toBe("unconfirmed");
    expect(tokenProblem(token({ roles, confirmedAtMs: 100 }), NOW)).toBeUndefined();
  }
});

test("a token that only reads, launches or operates needs no confirmation", () => {
  expect(tokenProblem(token({ roles: ["viewer", "launcher", "operator"] }), NOW)).toBeUndefined();
});

test("if every business is a sandbox, no token needs confirmation", () => {
  expect(tokenProblem(token(), { ...NOW, sandboxesOnly: true })).toBeUndefined();
});

test("a token ends when it expires or is revoked, whatever the clocks of gateways say", () => {
  const confirmed = { confirmedAtMs: 1 };
  expect(tokenProblem(token({ ...confirmed, expiresAtMs: 100 }), NOW)).toBe("expired");
  expect(tokenProblem(token({ ...confirmed, revokedAtMs: 100 }), NOW)).toBe("revoked");
  expect(tokenProblem(token({ ...confirmed, revokedAtMs: 900 }), NOW)).toBe("revoked");
  expect(tokenProblem(token({ confirmedAtMs: 900 }), NOW)).toBeUndefined();
});

test("a person can't confirm their own token, under any spelling of their name, nor one that has ended", () => {
  const by = (name: string) => ({ name, confirmedAtMs: 1 });
  expect(confirmationProblem(token(), by(" ADA"), 100)).toContain("second person");
  expect(confirmationProblem(token(), by("bea"), 100)).toBeUndefined();
  expect(confirmationProblem(token({ expiresAtMs: 100 }), by("bea"), 100)).toContain("expired");
});

test("a token acts for its businesses, and gives out no others", () => {
  expect(actsFor(null, "acme")).toBe(true);
  expect(actsFor(["acme"], "acme")).toBe(true);
  expect(actsFor(["acme"], "beta")).toBe(false);
  expect(coversBusinesses(null, null)).toBe(true);
  expect(coversBusinesses(["acme"], ["acme"])).toBe(true);
  expect(coversBusinesses(["acme"], ["acme", "beta"])).toBe(false);
  expect(coversBusinesses(["acme"], null)).toBe(false);
});

test("unreadable names and roles are refused", () => {
  expect(tokenNameProblem("José Núñez")).toBeUndefined();
  for (const name of ["", " ada", "ada ", "a\u0000b", "\u200b", "x".repeat(101)]) {
    expect(tokenNameProblem(name), JSON.stringify(name)).toBeDefined();
  }
  expect(roleProblem("controller-2")).toBeUndefined();
  for (const role of ["", "Admin", "2x", "a b", "a".repeat(51)]) {
    expect(roleProblem(role), role).toBeDefined();
  }
});

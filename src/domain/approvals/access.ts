import type { ApprovalRule, PayRunPlaybook, SumPer } from "../../contracts/playbook.ts";
import { formatUsd } from "../money.ts";
import { rolesOfRule } from "./rules.ts";
import { principalOf } from "../../contracts/principal.ts";
import { identityId } from "./session.ts";
import { actsFor, type TokenFacts, tokenProblem } from "./token.ts";

/** A span of real time, both ends included. */
export interface AccessSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

interface HeldToken extends TokenFacts {
  readonly tokenId: string;
  readonly name: string;
  /** Names of profiles; null for all. */
  readonly businesses: readonly string[] | null;
  readonly createdAtMs: number;
}

interface HeldKey {
  readonly keyId: string;
  readonly name: string;
  readonly roles: readonly string[];
}

interface HeldIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly roles: readonly string[];
}

export interface AccessFacts {
  /** The profile's name. */
  readonly business: string;
  readonly sandboxesOnly: boolean;
  /** All tokens that ever existed. */
  readonly tokens: readonly HeldToken[];
  /** Signing keys of the business's profile as it is now; the profile keeps no history. */
  readonly signers: readonly HeldKey[];
  /** People for whom the business's own identity provider vouches, also as of now. */
  readonly identities: readonly HeldIdentity[];
  readonly playbook: PayRunPlaybook;
  /** Authors of the playbook, whose approvals don't count for its runs. */
  readonly authors: readonly string[];
}

/** A principal who could approve, with the tokens and keys that allow it. */
export interface PersonWithAccess {
  readonly name: string;
  readonly roles: readonly string[];
  /** Ids of tokens, of keys as `key/ID`, of identities as `oidc/ISSUER SUBJECT`. */
  readonly by: readonly string[];
  /** True if their approval doesn't count, because they wrote the playbook. */
  readonly isAuthor: boolean;
}

export interface RuleAccess {
  /** The bills or deposits that the rule covers, in words. */
  readonly what: string;
  readonly roles: readonly string[];
  /** Different people who must approve. */
  readonly quorum: number;
  readonly people: readonly PersonWithAccess[];
}

/** Lists who could approve what in a playbook's runs, at any moment of a time span. */
export function accessTo(facts: AccessFacts, span: AccessSpan): RuleAccess[] {
  const { approve, pay } = facts.playbook;
  const rules = approve.map((rule) => ({
    what: whatOf(rule, approve.length === 1),
    quorum: rule.quorum,
    roles: rolesOfRule(rule),
  }));
  const { topUp } = pay;
  const deposits =
    topUp === undefined
      ? []
      : [
          {
            what: `deposits up to ${formatUsd(topUp.atMostCents)}`,
            quorum: topUp.quorum,
            roles: topUp.by,
          },
        ];
  return [...rules, ...deposits].map((rule) => ({
    ...rule,
    people: peopleWith(rule.roles, facts, span),
  }));
}

const ADDED_UP: Readonly<Record<SumPer, string>> = {
  vendor: " with their vendor's others in the run",
  "vendor-week": " with their vendor's others of the week",
};

function whatOf({ review, overCents, overPer, where }: ApprovalRule, isOnly: boolean): string {
  const parts = [
    ...(review ? ["bills to review"] : []),
    ...(overCents === null
      ? []
      : [`bills over ${formatUsd(overCents)}${overPer === undefined ? "" : ADDED_UP[overPer]}`]),
    ...(where === null ? [] : [`bills where ${where}`]),
  ];
  if (parts.length > 0) return parts.join(", ");
  return isOnly ? "every bill" : "every other bill";
}

function peopleWith(
  wanted: readonly string[],
  { business, sandboxesOnly, tokens, signers, identities, authors }: AccessFacts,
  span: AccessSpan,
): PersonWithAccess[] {
  const held = [
    ...tokens
      .filter((token) => actsFor(token.businesses, business) && counted(token, span, sandboxesOnly))
      .map(({ tokenId, name, roles }) => ({ id: tokenId, name, roles })),
    ...signers.map(({ keyId, name, roles }) => ({ id: `key/${keyId}`, name, roles })),
    ...identities.map(({ name, roles, ...who }) => ({ id: identityId(who), name, roles })),
  ].filter(({ roles }) => roles.some((role) => wanted.includes(role)));
  const isAuthor = new Set(authors.map(principalOf));
  const people = Map.groupBy(held, ({ name }) => principalOf(name));
  return [...people].map(([principal, of]) => ({
    name: of[0]?.name ?? principal,
    roles: [...new Set(of.flatMap(({ roles }) => roles))].filter((role) => wanted.includes(role)),
    by: of.map(({ id }) => id),
    isAuthor: isAuthor.has(principal),
  }));
}

/** True if the token was valid at some moment of the span. */
function counted(token: HeldToken, { fromMs, toMs }: AccessSpan, sandboxesOnly: boolean): boolean {
  const begins = [token.createdAtMs, token.confirmedAtMs ?? 0, fromMs];
  return begins.some(
    (ms) =>
      ms >= token.createdAtMs &&
      ms >= fromMs &&
      ms <= toMs &&
      tokenProblem(asItWas(token, ms), { nowMs: ms, sandboxesOnly }) === undefined,
  );
}

function asItWas({ confirmedAtMs, revokedAtMs, ...token }: HeldToken, atMs: number): HeldToken {
  const by = (ms: number | null) => (ms !== null && ms <= atMs ? ms : null);
  return { ...token, confirmedAtMs: by(confirmedAtMs), revokedAtMs: by(revokedAtMs) };
}

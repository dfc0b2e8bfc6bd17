import { expect, test } from "vitest";
import { principalOf, quorumOf } from "../../src/domain/approvals/principal.ts";

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
])("%j and %j are one person, who approves once", (one, other) => {
  expect(principalOf(one)).toBe(principalOf(other));
  expect(quorumOf([one, other])).toBe(1);
});

test.each([
  ["bob", "bobby"],
  ["José", "Jose"],
  ["bob smith", "bobsmith"],
])("%j and %j are two", (one, other) => {
  expect(quorumOf([one, other])).toBe(2);
});

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
  ["Cora", "C\u043era"],
  ["Ada", "\u0410\u0501\u0430"],
  ["ANNA", "\u0391\u039d\u039d\u0391"],
  ["Zo\u00eb", "Zo\u0451"],
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

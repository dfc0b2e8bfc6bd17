import { expect, test } from "vitest";
import { KeptTexts } from "../../../activities/shared/kept-texts.ts";

test("a plan keeps no more long texts than a worker has room for, however many a service shows", () => {
  const texts = new KeptTexts();
  const description = "x".repeat(2_000);
  const keep = (bills: number): void => {
    for (let bill = 0; bill < bills; bill += 1)
      texts.in({ payableId: `bill-${bill}`, description });
  };
  keep(100_000);
  expect(() => keep(10_000)).toThrow("more than 200000000 characters altogether");
});

test("the facts of a million bills with short texts are kept", () => {
  const texts = new KeptTexts();
  const description = "x".repeat(100);
  for (let bill = 0; bill < 1_000_000; bill += 1) texts.in({ description, status: "approved" });
});

test("texts that many records share are kept once, and facts stay as they are", () => {
  const texts = new KeptTexts();
  const facts = { payableId: "a", contactName: "Acme", totalCents: 1, dueDate: null };
  expect(texts.in({ ...facts })).toEqual(facts);
  expect(texts.in({ ...facts, payableId: "b" })).toEqual({ ...facts, payableId: "b" });
});

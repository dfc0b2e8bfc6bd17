import { expect, it, test } from "vitest";
import { foldedVendorName } from "../../src/domain/vendor-names.ts";

it("spellings of one vendor's name fold to the same, and other names don't", () => {
  const acme = ["Acme Inc", "ACME, Inc.", " acme ", "A.C.M.E. Co., Ltd.", "Acmé", "Ａｃｍｅ LLC"];
  expect(new Set(acme.map(foldedVendorName)).size).toBe(1);
  expect(foldedVendorName("Müller & Söhne GmbH")).toBe(
    foldedVendorName("MU\u0308LLER-SO\u0308HNE"),
  );
  expect(foldedVendorName("Acme Paper")).not.toBe(foldedVendorName("Acme"));
  expect(foldedVendorName("Inc.")).not.toBe("");
  expect(foldedVendorName("The Co.")).not.toBe("");
  expect([null, "", " -. "].map(foldedVendorName)).toEqual(["", "", ""]);
});

test.each([
  ["F\u043ex Legal", "a Cyrillic letter"],
  ["Fox LegaI", "a capital I"],
  ["Fox Lega1", "a digit 1"],
  ["F0x Legal", "a digit 0"],
  ["Fox\u200bLegal", "a space without width"],
  ["Fox\u2800Legal", "Braille's blank"],
  ["FoxLegal", "no space"],
  ["The Fox Legal", "an article"],
  ["F\u0585x Legal \u0406nc.", "an Armenian letter, and a suffix with a Cyrillic one"],
])("%j, which has %s, folds as the vendor that it looks like does", (name) => {
  expect(foldedVendorName(name)).toBe(foldedVendorName("Fox Legal"));
});

it("a name in other letters folds as its own spellings do, and as no other", () => {
  expect(foldedVendorName("\u0391\u039b\u0395\u039e\u0399\u03a3")).toBe(
    foldedVendorName("\u03b1\u03bb\u03b5\u03be\u03b9\u03c2"),
  );
  expect(foldedVendorName("\u65e5\u672c")).not.toBe(foldedVendorName("\u65e5\u66dc"));
});

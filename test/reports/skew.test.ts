import { expect, test } from "vitest";
import { skewOf } from "../../src/reports/conditions.ts";

test("doctor tells of a clock that differs by more than ten seconds, and by how much", () => {
  expect(skewOf("The database", 9_000)).toBeUndefined();
  expect(skewOf("The database", -9_000)).toBeUndefined();
  expect(skewOf("The database", -240_000)).toMatchObject({
    text: "The database's clock is 240 s behind this machine's",
  });
  expect(skewOf("The service", 11_000)?.text).toContain("11 s ahead of");
});

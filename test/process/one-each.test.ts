import { expect, test } from "vitest";
import { OneEach } from "../../src/process/one-each.ts";

test("work that never ends holds up no other key's, and its own key has no second piece of work", async () => {
  const works = new OneEach();
  let begun = 0;
  const hangs = (): Promise<never> => {
    begun += 1;
    return new Promise(() => undefined);
  };
  expect(await works.begin("hangs", hangs, 1)).toBeUndefined();
  expect(await works.begin("hangs", hangs, 1)).toBeUndefined();
  expect(await works.begin("sound", () => Promise.resolve("done"), 60_000)).toBe("done");
  expect(works.keys).toEqual(["hangs"]);
  expect(begun).toBe(1);
});

test("work that failed is begun again", async () => {
  const works = new OneEach();
  const fails = () => Promise.reject(new Error("no"));
  await expect(works.begin("acme", fails, 60_000)).rejects.toThrow("no");
  expect(await works.begin("acme", () => Promise.resolve(1), 60_000)).toBe(1);
});

import { expect, test } from "vitest";
import { repeatedMember } from "../../src/domain/repeated-member.ts";

test.for<[string, string | undefined]>([
  ['{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}', undefined],
  ['{"a":1,"b":2,"a":3}', "a"],
  ['{"x":[{"a":1,"\\u0061" :2}]}', "a"],
  ['{"a":"a","b":"\\"b\\":{","c":"\\\\"}', undefined],
  ['{"\\\\":1,"\\"":2,"\\\\":3}', "\\"],
  ['["a","a"]', undefined],
])("the name that %s has twice is %s", ([json, name]) => {
  expect(repeatedMember(json)).toBe(name);
});

test("a name is found twice behind a text of millions of escapes", () => {
  expect(repeatedMember(`{"a":"${"\\n".repeat(5_000_000)}","b":1,"b":2}`)).toBe("b");
});

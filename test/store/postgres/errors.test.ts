import { expect, test } from "vitest";
import { isNobodyThere, isSessionOver, toStoreError } from "../../../src/store/postgres/errors.ts";
import { locationOf } from "../../../src/store/postgres/location.ts";

const location = locationOf("postgres://payrun:p%40ss@db.example:5432/payrun");

const failed = (code: string, message = "said by the server") =>
  Object.assign(new Error(message), { code });

test.each([
  ["57P01", "the server shuts down"],
  ["57P02", "the server crashed"],
  ["57P03", "the server starts, or recovers"],
  ["08006", "the connection failed"],
  ["08P01", "a pooler has no server"],
  ["25006", "die Transaktion kann nur lesen"],
])("after %s, the session is dropped, and the work is done on another: %s", (code, message) => {
  expect(isSessionOver(failed(code, message))).toBe(true);
});

test.each(["23505", "40001", "42501", "53100", "55P03", "57014"])(
  "a session that has answered %s is used again",
  (code) => {
    expect(isSessionOver(failed(code))).toBe(false);
  },
);

test.each([
  ["25006", "read_only", /takes no writes \(said by the server\).*Nothing was written/],
  ["53100", "full", /has no room on its disk.*Make room/],
  ["58030", "failing", /fails \(said by the server\).*its log/],
  ["53200", "failing", /fails/],
  ["57P03", "unreachable", /can't be reached/],
  ["08006", "unreachable", /can't be reached/],
])("%s is reported as %s, and names the server without its password", (code, expected, message) => {
  const error = toStoreError(failed(code), location);
  expect(error).toMatchObject({ name: "StoreError", code: expected });
  expect(error).toMatchObject({ message: expect.stringMatching(message) });
  expect(error).toMatchObject({ message: expect.stringContaining("payrun@db.example:5432") });
  expect(error).not.toMatchObject({ message: expect.stringContaining("p@ss") });
});

test("a pooler that refuses a startup parameter isn't waited for, and the way out is named", () => {
  const error = failed("08P01", "unsupported startup parameter: options");
  expect(isSessionOver(error)).toBe(false);
  expect(toStoreError(error, location)).toMatchObject({
    code: "unsupported",
    message: expect.stringMatching(/startup parameter: options.*Take it out of the address/),
  });
});

test("a pooler that takes no transactions isn't waited for, and the way out is named", () => {
  const error = failed("08P01", "transaction blocks not allowed in statement pooling mode");
  expect(isSessionOver(error)).toBe(false);
  expect(toStoreError(error, location)).toMatchObject({
    code: "unsupported",
    message: expect.stringMatching(/takes no transactions.*pool_mode to transaction or session/),
  });
});

test.each([
  ["SASL authentication failed", "refused", /refuses user "payrun": check user and password/],
  ["no such database: payrun", "missing", /There is no database "payrun"/],
])("a pooler that says “%s” is taken at its word (%s)", (message, code, text) => {
  const error = failed("08P01", message);
  expect(isNobodyThere(error)).toBe(true);
  expect(toStoreError(error, location)).toMatchObject({
    code,
    message: expect.stringMatching(text),
  });
});

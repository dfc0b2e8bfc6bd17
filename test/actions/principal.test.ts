import { expect, test } from "vitest";
import { requireRole } from "../../src/actions/principal.ts";

test("who lacks the role reads each role that would do once, and which they have", () => {
  const vera = { tokenId: "tok_1", name: "vera", roles: ["viewer"], businesses: null };
  expect(() => requireRole(vera, ["operator", "admin", "operator"])).toThrow(
    "This needs one of the roles operator, admin; vera has viewer.",
  );
});

test("one role that would do is said as one", () => {
  const vera = { tokenId: "tok_1", name: "vera", roles: ["viewer"], businesses: null };
  expect(() => requireRole(vera, ["admin", "admin"])).toThrow(
    "This needs the role admin; vera has viewer.",
  );
});

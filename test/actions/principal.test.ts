import { expect, test } from "vitest";
import { requireRole } from "../../src/actions/principal.ts";

test("the refusal of a caller names each sufficient role once, and the caller's own roles", () => {
  const vera = { tokenId: "tok_1", name: "vera", roles: ["viewer"], businesses: null };
  expect(() => requireRole(vera, ["operator", "admin", "operator"])).toThrow(
    "This needs one of the roles operator, admin; vera has viewer.",
  );
});

test("a single sufficient role is named in the singular", () => {
  const vera = { tokenId: "tok_1", name: "vera", roles: ["viewer"], businesses: null };
  expect(() => requireRole(vera, ["admin", "admin"])).toThrow(
    "This needs the role admin; vera has viewer.",
  );
});

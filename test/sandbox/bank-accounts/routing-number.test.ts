import { expect, it } from "vitest";
import { isRoutingNumber } from "../../../src/sandbox/bank-accounts/routing-number.ts";

it.each(["021000021", "011401533", "091000019", "322271627", "121000358", "800000006"])(
  "the routing number %s is valid",
  (text) => expect(isRoutingNumber(text)).toBe(true),
);

it.each([
  ["021000022", "has a wrong check digit"],
  ["120000021", "has two digits swapped"],
  ["000000000", "is of no district"],
  ["991234561", "is of no district"],
  ["02100002", "is too short"],
  ["0210000210", "is too long"],
  ["02100002a", "has a letter"],
  ["", "is empty"],
])("the routing number %s is invalid: it %s", (text) => expect(isRoutingNumber(text)).toBe(false));

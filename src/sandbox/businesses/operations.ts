import type { ServiceOperation } from "../http/operation.ts";
import { businessBalanceOperations } from "./balance-operations.ts";
import { officerOperations } from "./officer-operations.ts";
import { profileOperations } from "./profile-operations.ts";
import { taxOperations } from "./tax-operations.ts";

/** Businesses, verification and officers: the `/api` family without the accounting integration. */
export const businessOperations: readonly ServiceOperation[] = [
  ...profileOperations,
  ...businessBalanceOperations,
  ...taxOperations,
  ...officerOperations,
];

import type { Requester } from "../requester.ts";
import { whereShown } from "../schemas/common.ts";
import {
  type BeneficialOwnershipCertification,
  certificationSchema,
  type Officer,
  officerListSchema,
  officerSchema,
} from "../schemas/officer.ts";
import type { CallOptions } from "../transport.ts";
import { businessPath } from "./businesses.ts";

/** An officer, or an owner of 25 percent or more (API specification, section 2). */
export interface NewOfficer {
  firstName: string;
  lastName: string;
  title: string;
  /** `YYYY-MM-DD`. */
  dateOfBirth: string;
  ssn: string;
  address: { street: string; city: string; state: string; zip: string; country: string };
}

const addedSchema = whereShown(officerSchema);
const certifiedSchema = whereShown(certificationSchema);

/**
 * Officers and owners of a business (API specification, section 4, which does not show the
 * responses). These writes take no idempotency key: list before adding, and again after an outcome
 * `unknown`. No error shows a social security number or birth date.
 */
export class Officers {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    this.#requester = requester;
  }

  list(businessId: string, options?: CallOptions): Promise<Officer[]> {
    return this.#requester.read(officersPath(businessId), officerListSchema, options);
  }

  /** @returns undefined if the response is not an officer; `list` shows them */
  add(
    businessId: string,
    officer: NewOfficer,
    options?: CallOptions,
  ): Promise<Officer | undefined> {
    const sensitive = [officer.ssn, officer.dateOfBirth];
    const write = { ...options, path: officersPath(businessId), body: officer, sensitive };
    return this.#requester.write({ ...write, method: "POST" }, addedSchema);
  }

  /**
   * Certifies that all owners of 25 percent or more are listed: a legal act of the person named.
   *
   * @param certification `certifiedAt`: ISO 8601
   */
  certifyBeneficialOwnership(
    businessId: string,
    certification: { certifierName: string; certifiedAt: string },
    options?: CallOptions,
  ): Promise<BeneficialOwnershipCertification | undefined> {
    const path = `${officersPath(businessId)}/certify-beneficial-ownership`;
    const write = { ...options, method: "POST" as const, path, body: certification };
    return this.#requester.write(write, certifiedSchema);
  }
}

function officersPath(businessId: string): string {
  return `${businessPath(businessId)}/officers`;
}

/** The vault's values for each step, in the service's shapes (API specification, section 2). */
export type TaxIdValue = { readonly ein: string } | { readonly ssn: string };

export interface OfficerValue {
  readonly firstName: string;
  readonly lastName: string;
  readonly title: string;
  /** `YYYY-MM-DD`. */
  readonly dateOfBirth: string;
  readonly ssn: string;
  readonly address: {
    readonly street: string;
    readonly city: string;
    readonly state: string;
    readonly zip: string;
    readonly country: string;
  };
}

export interface DocumentValue {
  readonly documentType: string;
  readonly contentBase64: string;
  /** Media type, such as `application/pdf`. */
  readonly type: string;
}

export interface BankAccountValue {
  readonly accountNumber: string;
  readonly routingNumber: string;
  readonly accountType: "checking" | "savings";
  readonly name?: string;
}

export interface MicroDepositsValue {
  readonly amountsCents: readonly [number, number];
}

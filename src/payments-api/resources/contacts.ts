import { type Requester, segment, type WriteOptions } from "../requester.ts";
import { whereShown } from "../schemas/common.ts";
import {
  type Contact,
  contactPageSchema,
  contactSchema,
  type ContactStatus,
  type ContactType,
} from "../schemas/contact.ts";
import type { CallOptions } from "../transport.ts";
import { PagedReads } from "./paged-reads.ts";

/**
 * Filters of contacts. `revoked` contacts are listed only by that status; without a status, the
 * list has active and archived ones.
 */
type ContactFilters = {
  type?: ContactType | undefined;
  status?: ContactStatus | undefined;
  /** Matches display name or email. */
  search?: string | undefined;
};

interface Address {
  streetOne: string;
  streetTwo?: string;
  city: string;
  /** Two letters. */
  stateCode: string;
  zipCode: string;
}

interface NewContact {
  displayName: string;
  /** At most 5; for payees only. */
  emails?: string[];
  phone?: string;
  address?: Address;
  /** Never returned by the service. */
  bankAccount?: {
    accountNumber: string;
    /** Nine-digit ABA number. */
    routingNumber: string;
    accountType: "checking" | "savings";
  };
  /** `taxId` is never returned by the service. */
  taxInfo?: { legalName: string; taxIdType: "ein" | "ssn"; taxId: string };
  /** Without it, a contact of the same name or email is refused with 409. */
  allowDuplicates?: boolean;
}

/** Changes of a contact. All but the name are for payees only. */
interface ContactChanges {
  displayName?: string;
  /** Replaces the whole list. */
  emails?: string[];
  phone?: string;
  address?: Address;
  /** Days, 0 or more. */
  netTerms?: number;
}

/** Contacts: whom the business pays (API specification, section 4). */
export class Contacts extends PagedReads<Contact, ContactFilters> {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    super(requester, "/v1/contacts", contactPageSchema);
    this.#requester = requester;
  }

  get(contactId: string, options?: CallOptions): Promise<Contact> {
    return this.#requester.readOne("/v1/contacts", contactId, contactSchema, options);
  }

  create(contact: NewContact, options?: WriteOptions): Promise<Contact> {
    const secrets = [contact.bankAccount?.accountNumber, contact.taxInfo?.taxId];
    const sensitive = secrets.filter((text) => text !== undefined);
    const write = { ...options, path: "/v1/contacts", body: contact, sensitive };
    return this.#requester.write({ ...write, method: "POST" }, contactSchema);
  }

  update(contactId: string, changes: ContactChanges, options?: WriteOptions): Promise<Contact> {
    const write = { ...options, method: "PATCH" as const, path: pathOf(contactId), body: changes };
    return this.#requester.write(write, contactSchema);
  }

  /** Hides the contact; `unarchive` restores it. */
  archive(contactId: string, options?: WriteOptions): Promise<Contact> {
    const path = `${pathOf(contactId)}/archive`;
    return this.#requester.write({ ...options, method: "POST", path }, contactSchema);
  }

  /**
   * Restores an archived contact.
   *
   * @returns undefined if the response, whose shape is not documented, is not a contact
   */
  unarchive(contactId: string, options?: WriteOptions): Promise<Contact | undefined> {
    const path = `${pathOf(contactId)}/unarchive`;
    return this.#requester.write({ ...options, method: "POST", path }, restoredSchema);
  }
}

const restoredSchema = whereShown(contactSchema);

function pathOf(contactId: string): string {
  return `/v1/contacts/${segment(contactId)}`;
}

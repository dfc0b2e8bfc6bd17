import { lastFour, matchOfficer } from "../../src/domain/onboarding/matching.ts";
import type {
  BankAccountValue,
  DocumentValue,
  MicroDepositsValue,
  OfficerValue,
  TaxIdValue,
} from "../../src/domain/onboarding/values.ts";
import { bankAccountSender, microDepositsSender } from "./bank-senders.ts";
import { officersOf, readView, taxInfoOf, verificationOf } from "./read-view.ts";
import type { FoundInput, Sender, Sending } from "./sender.ts";

const THERE: FoundInput = { kind: "there" };
const ABSENT: FoundInput = { kind: "absent" };

/**
 * Returns how an input is sent.
 *
 * @param value what the vault keeps of it; null for the legal acts
 */
export function senderOf(sending: Sending, value: unknown): Sender {
  switch (sending.input.step) {
    case "tax":
      return taxSender(sending, value as TaxIdValue);
    case "signature":
      return signatureSender(sending);
    case "officers":
      return officerSender(sending, value as OfficerValue);
    case "certification":
      return certificationSender(sending);
    case "documents":
      return documentSender(sending, value as DocumentValue);
    case "bank-account":
      return bankAccountSender(sending, value as BankAccountValue);
    case "micro-deposits":
      return microDepositsSender(sending, value as MicroDepositsValue);
  }
}

function taxSender({ client, businessId, input, given }: Sending, value: TaxIdValue): Sender {
  const number = "ein" in value ? value.ein : value.ssn;
  return {
    personal: [number],
    async look() {
      const { steps } = await readView(client, businessId, given);
      if (steps.tax === "missing") return ABSENT;
      // Nothing shows whether digits other than the last four differ from those on file.
      if (input.facts.replace === true && input.sends === 0) return ABSENT;
      const { taxIdMask } = await verificationOf(client, businessId);
      const onFile = taxIdMask ?? (await taxInfoOf(client, businessId)).taxIdMask;
      if (onFile === undefined || onFile === null || lastFour(onFile) === lastFour(number))
        return THERE;
      if (input.facts.replace === true) return ABSENT;
      return {
        kind: "refused",
        reason:
          "The service has another tax id on file. To send this one in its place, provide it again with replace: true; the W-9 is then signed anew.",
      };
    },
    async send() {
      await client.verification.submitTaxInfo(businessId, value);
    },
  };
}

function signatureSender({ client, businessId, input, given }: Sending): Sender {
  return {
    personal: [],
    look: async () =>
      (await readView(client, businessId, given)).steps.signature === "missing" ? ABSENT : THERE,
    async send() {
      const { name: signerName = "", at: signedAt = "" } = input.facts;
      await client.verification.sign(businessId, { signerName, signedAt });
    },
  };
}

function certificationSender({ client, businessId, input, given }: Sending): Sender {
  return {
    personal: [],
    look: async () =>
      (await readView(client, businessId, given)).steps.certification === "missing"
        ? ABSENT
        : THERE,
    async send() {
      const { name: certifierName = "", at: certifiedAt = "" } = input.facts;
      const certification = { certifierName, certifiedAt };
      await client.officers.certifyBeneficialOwnership(businessId, certification);
    },
  };
}

function officerSender({ client, businessId, input }: Sending, value: OfficerValue): Sender {
  const { firstName, lastName, ssn, dateOfBirth, address } = value;
  return {
    personal: [ssn, dateOfBirth, address.street],
    async look() {
      const listed = await officersOf(client, businessId);
      const match = matchOfficer({ firstName, lastName, ssnLast4: lastFour(ssn) }, listed);
      if (match === "listed") return THERE;
      if (match === "new" || input.facts.another === true) return ABSENT;
      return {
        kind: "refused",
        reason:
          "A listed person has the same name or the same last four digits, so this may be the same person. If it is another one, provide them again with another: true; if not, there is nothing to do.",
      };
    },
    async send() {
      await client.officers.add(businessId, value);
    },
  };
}

function documentSender({ client, businessId, input }: Sending, value: DocumentValue): Sender {
  return {
    personal: [],
    async look() {
      const { status } = await verificationOf(client, businessId);
      if (status === "document") return ABSENT;
      // Receiving a document ends this status, so a document that was sent has arrived.
      if (input.sentAtMs !== null) return THERE;
      return { kind: "refused", reason: "The review doesn't ask for documents any more." };
    },
    async send() {
      const content = Buffer.from(value.contentBase64, "base64");
      const name = `document.${value.type.split("/")[1] ?? "bin"}`;
      await client.verification.uploadDocument(businessId, {
        file: { content, name, type: value.type },
        documentType: value.documentType,
      });
    },
  };
}

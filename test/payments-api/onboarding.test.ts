import { expect } from "vitest";
import { PaymentsClient } from "../../src/payments-api/index.ts";
import { certification, officer, pdf, png, signature, taxId } from "../sandbox/businesses/kyb.ts";
import { sharedSandboxTest } from "../sandbox/sandbox-test.ts";

const test = sharedSandboxTest({ fixture: "unverified" })
  .extend("client", { scope: "file" }, ({ service }, { onCleanup }) => {
    const token = { value: service.business.token };
    const client = new PaymentsClient({ baseUrl: service.url, token });
    onCleanup(() => client.close());
    return client;
  })
  .extend("businessId", { scope: "file" }, ({ service }) => service.business.businessId);

test("a business goes from nothing to verified in the order of the specification", async ({
  sandbox,
  client,
  businessId,
}) => {
  const { verification, officers } = client;
  expect(await verification.get(businessId)).toMatchObject({
    status: "pending",
    steps: { tax: "missing" },
  });
  expect(await verification.submitTaxInfo(businessId, taxId)).toMatchObject({
    taxIdType: "ein",
    taxIdMask: "4321",
  });
  expect(await verification.sign(businessId, signature)).toMatchObject({ signature });
  expect(await officers.list(businessId)).toEqual([]);
  const added = await officers.add(businessId, officer);
  expect(added).toMatchObject({ firstName: "Ada", lastName: "Okafor", ssnLast4: "9876" });
  expect(await officers.list(businessId)).toEqual([added]);
  expect(await officers.certifyBeneficialOwnership(businessId, certification)).toMatchObject(
    certification,
  );
  await sandbox.control.changeBusiness({ verification: "document", nextSteps: ["Send a letter"] });
  expect(await verification.get(businessId)).toMatchObject({
    status: "document",
    requestedDocuments: ["einLetter"],
  });
  const file = { content: pdf, name: "letter.pdf", type: "application/pdf" };
  const uploaded = await verification.uploadDocument(businessId, {
    file,
    documentType: "einLetter",
  });
  expect(uploaded).toMatchObject({ documentType: "einLetter", sizeBytes: pdf.length });
  expect((await verification.get(businessId)).status).toBe("pending");
  await sandbox.control.changeBusiness({ verification: "verified" });
  expect((await verification.get(businessId)).status).toBe("verified");
  expect(await verification.getTaxInfo(businessId)).toMatchObject({ taxIdMask: "4321" });
});

test("the account's businesses are listed and read, and get an alias and a logo", async ({
  client,
  businessId,
}) => {
  const { businesses } = client;
  expect((await businesses.list()).map(({ id }) => id)).toEqual([businessId]);
  expect(await businesses.setAlias(businessId, "Corner shop")).toMatchObject({
    alias: "Corner shop",
  });
  const file = { content: png, name: "logo.png", type: "image/png" };
  await businesses.uploadLogo(businessId, file);
  expect(await businesses.get(businessId)).toMatchObject({
    alias: "Corner shop",
    logo: { contentType: "image/png", sizeBytes: png.length },
  });
  await businesses.deleteLogo(businessId);
  expect(await businesses.get(businessId)).toMatchObject({ logo: null });
});

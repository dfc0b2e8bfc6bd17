import { z } from "zod";
import { PROVIDED_STEPS, type ProvidedStep } from "../../contracts/onboarding.ts";
import { businessNamed } from "../../actions/businesses.ts";
import { notFound } from "../../actions/errors.ts";
import { DOCUMENTS_BYTES } from "../http/limits.ts";
import type { Routes } from "../http/route.ts";
import { PROVIDED } from "../../actions/onboarding/inputs.ts";
import { openOnboarding, provide } from "../../actions/onboarding/provide.ts";
import { OnboardingStatusBody } from "../../api/onboardings.ts";
import { onboardingStatus } from "../../reports/status/onboarding.ts";
import { MAY, name } from "./fields.ts";

const STEPS: Readonly<
  Record<ProvidedStep, { readonly operationId: string; readonly summary: string }>
> = {
  tax: { operationId: "provideTax", summary: "Provides a business's tax id" },
  signature: {
    operationId: "provideSignature",
    summary: "Signs the W-9: a legal act of the person named",
  },
  officers: {
    operationId: "provideOfficers",
    summary: "Provides officers and owners of 25 percent or more",
  },
  certification: {
    operationId: "provideCertification",
    summary: "Certifies beneficial ownership: a legal act of the person named",
  },
  documents: {
    operationId: "provideDocuments",
    summary: "Provides documents that the review asks for",
  },
  "bank-account": {
    operationId: "provideBankAccount",
    summary: "Provides a bank account to link",
  },
  "micro-deposits": {
    operationId: "provideMicroDeposits",
    summary: "Provides the amounts of a bank account's two micro-deposits",
  },
};

/** Adds what people provide for an onboarding, a path for each step. */
export function addOnboardingRoutes(routes: Routes): void {
  for (const step of PROVIDED_STEPS) addStep(routes, step);
}

function addStep(routes: Routes, step: ProvidedStep): void {
  const { body, items: itemsOf } = PROVIDED[step];
  routes.add({
    whose: "profiles",
    method: "post",
    path: `/v1/onboardings/{business}/${step}`,
    tag: "onboardings",
    ...STEPS[step],
    description:
      "Personal data goes into the vault, encrypted; it is sent when its turn comes, and then forgotten.",
    params: z.object({ business: name }),
    roles: async ({ params }, context) => {
      const profile = businessNamed(context, params.business, "");
      const { policy } = await openOnboarding(context.store.db, profile);
      return [...MAY.operate, ...policy.by];
    },
    body,
    ...(step === "documents" ? { bodyMostBytes: DOCUMENTS_BYTES } : {}),
    responses: { 202: { description: "Kept until its turn", schema: OnboardingStatusBody } },
    handle: async ({ body: given, params, principal, from, context }) => {
      const profile = businessNamed(context, params.business, "");
      const { workflowId } = await openOnboarding(context.store.db, profile);
      const items = itemsOf(given, context.nowMs());
      await provide(context, {
        profile,
        step,
        items,
        textHash: textHashOf(given),
        by: principal,
        from,
      });
      const status = await onboardingStatus(context.store.db, workflowId);
      if (status === undefined) throw notFound(`There is no onboarding of ${profile.name}.`);
      return { status: 202, json: status };
    },
  });
}

function textHashOf(body: unknown): string | undefined {
  const isShown = typeof body === "object" && body !== null && "textHash" in body;
  return isShown && typeof body.textHash === "string" ? body.textHash : undefined;
}

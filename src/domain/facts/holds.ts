import { fact, text, texts } from "./fact.ts";

const hold = { holdId: text, scope: text, value: text };
const until = text.nullable();

const of = {
  wakes: ({ holdId, scope, value }: Readonly<Record<"holdId" | "scope" | "value", string>>) =>
    [{ kind: "hold", holdId, scope, value }] as const,
};

export const holdCreated = fact("hold.created", { ...hold, reason: text, roles: texts, until }, of);
export const holdReleased = fact("hold.released", hold, of);
export const holdEnded = fact("hold.ended", { ...hold, until: text }, of);

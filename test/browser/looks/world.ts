import { startSandbox, type TestSandbox } from "../../support/sandbox.ts";
import { profile, startTestGateway, type TestGateway } from "../../gateway/support/gateway.ts";
import type { SeededRun } from "../../gateway/support/rows.ts";
import { startSignInWorld, type SignInWorld } from "./sign-in-world.ts";
import { seedAcme, type Acme } from "./seeds/acme.ts";
import { seedGlobex, type Globex } from "./seeds/globex.ts";
import { seedHooli } from "./seeds/hooli.ts";
import { seedUmbrella, type Umbrella } from "./seeds/umbrella.ts";

/** One gateway of five businesses, each in a situation of its own. */
export interface World {
  readonly gateway: TestGateway;
  readonly signIn: SignInWorld;
  /** In its week before payment; its service can't be reached. */
  readonly acme: Acme;
  /** Its service answers, and it requires a recent sign-in. */
  readonly globex: Globex;
  /** Has runs and holds that can be stopped and released. */
  readonly umbrella: Umbrella;
  stop(): Promise<void>;
}

export async function startWorld(): Promise<World> {
  const sandbox = await startSandbox({ fixture: "sample" });
  const gateway = await startTestGateway({
    limits: { ratePerAddress: 1_000, ratePerToken: 1_000 },
    profiles: [
      profile(),
      ...["hooli", "initech", "umbrella"].map((name) =>
        profile({ name, businessId: `biz_${name}` }),
      ),
      globexOf(sandbox),
    ],
  });
  const signIn = await startSignInWorld();
  // Hooli has a run in each phase and a bill in each state; initech has nothing.
  await seedHooli(gateway.store);
  return {
    ...{ gateway, signIn },
    acme: await seedAcme(gateway),
    globex: await seedGlobex(gateway.store, sandbox),
    umbrella: await seedUmbrella(gateway),
    async stop() {
      await signIn.stop();
      await gateway.stop();
      await sandbox.stop();
    },
  };
}

function globexOf(sandbox: TestSandbox) {
  const { businessId, token } = sandbox.business;
  return profile({
    ...{ name: "globex", businessId, apiUrl: sandbox.url },
    token: { kind: "value", value: token },
    signIn: { freshOverCents: 1 },
  });
}

export function runPath({ runId }: SeededRun): string {
  return `/runs/${encodeURIComponent(runId)}`;
}

import { afterAll, beforeAll, beforeEach } from "vitest";
import { MoneyWorld } from "./money-world.ts";

/** Three vendors, whose names and addresses are as odd as vendors' are; each test begins anew. */
export function vendorsScene(): VendorsScene {
  const scene = new VendorsScene();
  beforeAll(() => scene.start());
  afterAll(() => scene.world.stop());
  beforeEach(() => scene.world.world.reset({ contacts: VENDORS }));
  return scene;
}

const VENDORS = [
  {
    id: "v1",
    displayName: "=One & Sons",
    emails: ["billing@one.example", "owner@one.example"],
    bankAccount: { last4: "1111" },
  },
  { id: "v2", displayName: "Two", bankAccount: { last4: "2222" } },
  {
    id: "v3",
    displayName: "Three",
    emails: ["billing at three.example", "owner@three.example"],
    bankAccount: { last4: "3333" },
  },
];

class VendorsScene {
  #world: MoneyWorld | undefined;

  get world(): MoneyWorld {
    if (this.#world === undefined) throw new Error("not started");
    return this.#world;
  }

  async start(): Promise<void> {
    this.#world = await MoneyWorld.start();
  }

  /** Pays a run's approved bills and lets the bank settle them. */
  async settle(runId: string): Promise<void> {
    const { world } = this;
    await world.pay(runId);
    await world.control.advance("P9D");
    await world.follow(runId);
    await world.follow(runId);
  }
}

import { type MoneyWorld, test as moneyTest } from "./money-world.ts";

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

/** Three vendors with names and addresses as odd as real ones. */
class VendorsScene {
  readonly world: MoneyWorld;

  constructor(world: MoneyWorld) {
    this.world = world;
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

export const test = moneyTest
  .extend("world", async ({ world }) => {
    await world.world.reset({ contacts: VENDORS });
    return world;
  })
  .extend("scene", ({ world }) => new VendorsScene(world));

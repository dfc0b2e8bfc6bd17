import type { Change } from "./changes.ts";

/** What came of tests: `late` if they took too long. */
export interface Ran {
  readonly ended: "passed" | "failed" | "late";
  /** The files that failed; none if something else did. */
  readonly failed: readonly string[];
}

/** A copy of the checkout, in which changes are made. */
export interface Copy {
  /** Makes a change in place of the last one. */
  readonly make: (change: Change | undefined) => void;
  /** Runs test files, until the first failure. */
  readonly runTests: (tests: readonly string[]) => Promise<Ran>;
  readonly checkTypes: () => Promise<boolean>;
}

export interface Verdict {
  readonly change: Change;
  readonly came: "noticed" | "unnoticed" | "late";
  /** What has noticed it. */
  readonly by: string;
}

/** Tests that run first, as most changes are noticed near by. */
const NEAREST = 6;

/** Tries changes, one after the other. */
export class Trial {
  readonly #copy: Copy;
  readonly #isSound = new Map<string, boolean>();

  constructor(copy: Copy) {
    this.#copy = copy;
  }

  /** Test files that fail without any change, or only sometimes, so that they notice nothing. */
  get unsound(): string[] {
    return [...this.#isSound].flatMap(([test, isSound]) => (isSound ? [] : [test]));
  }

  /** @param tests those that import the changed file, the nearest first */
  async try(change: Change, tests: readonly string[]): Promise<Verdict> {
    for (const some of [tests.slice(0, NEAREST), tests.slice(NEAREST)]) {
      const { came, by } = await this.#noticed(change, some);
      if (came !== "unnoticed") return { change, came, by };
    }
    this.#copy.make(change);
    const isWellTyped = await this.#copy.checkTypes();
    return isWellTyped
      ? { change, came: "unnoticed", by: "" }
      : { change, came: "noticed", by: "types" };
  }

  async #noticed(change: Change, tests: readonly string[]): Promise<Omit<Verdict, "change">> {
    for (;;) {
      const sound = tests.filter((test) => this.#isSound.get(test) !== false);
      if (sound.length === 0) return { came: "unnoticed", by: "" };
      this.#copy.make(change);
      const { ended, failed } = await this.#copy.runTests(sound);
      if (ended === "passed") return { came: "unnoticed", by: "" };
      if (ended === "late") return { came: "late", by: "" };
      for (const test of failed.length === 0 ? sound : failed) {
        if (await this.#notices(change, test)) return { came: "noticed", by: test };
      }
    }
  }

  /** True if a test passes without the change, and fails with it once more. */
  async #notices(change: Change, test: string): Promise<boolean> {
    this.#copy.make(undefined);
    const passes = this.#isSound.get(test) ?? (await this.#ends([test])) === "passed";
    this.#copy.make(change);
    const isSound = passes && (await this.#ends([test])) === "failed";
    this.#isSound.set(test, isSound);
    return isSound;
  }

  async #ends(tests: readonly string[]): Promise<Ran["ended"]> {
    return (await this.#copy.runTests(tests)).ended;
  }
}

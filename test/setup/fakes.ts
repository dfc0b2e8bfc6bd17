import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const CHECKOUT = fileURLToPath(new URL("../..", import.meta.url));

/** A CLI that answers the two questions of the set-up as the real one does. */
export const WORKING_CLI = `#!/bin/sh
case "$1" in
  --version) echo "temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)" ;;
  server) exit 0 ;;
esac
`;

/** A separate machine for one test: a home, a cache and a PATH with only a few shell tools. */
export class FakeMachine {
  readonly folder = mkdtempSync(join(tmpdir(), "payrun-machine-"));
  readonly programs = join(this.folder, "programs");
  readonly cache = join(this.folder, "cache", "payrun");
  readonly lines: string[] = [];
  readonly log = (line: string): void => void this.lines.push(line);

  constructor() {
    mkdirSync(this.programs);
    mkdirSync(join(this.folder, "tmp"));
    for (const tool of ["cat", "chmod", "cp", "mkdir", "rm", "sleep"]) {
      const found = ["/bin", "/usr/bin"].map((folder) => join(folder, tool)).find(existsSync);
      if (found) symlinkSync(found, join(this.programs, tool));
    }
  }

  /** The machine's environment, which has nothing of the real one but a few shell tools. */
  get env(): Record<string, string> {
    return {
      HOME: this.folder,
      XDG_CACHE_HOME: join(this.folder, "cache"),
      TMPDIR: join(this.folder, "tmp"),
      PATH: this.programs,
      CALLS: join(this.folder, "calls"),
    };
  }

  /** Puts a program on the PATH that records each of its calls. */
  program(name: string, body: string): string {
    const noted = `#!/bin/sh\necho "${name} $*" >> "${this.env["CALLS"]}"\n`;
    return this.file(join("programs", name), noted + body);
  }

  /** Writes an executable file. */
  file(path: string, content: string): string {
    const whole = join(this.folder, path);
    mkdirSync(join(whole, ".."), { recursive: true });
    writeFileSync(whole, content);
    chmodSync(whole, 0o755);
    return whole;
  }

  /** Returns the calls of the programs, oldest first. */
  calls(): string[] {
    try {
      return readFileSync(join(this.folder, "calls"), "utf8").trimEnd().split("\n");
    } catch {
      return [];
    }
  }

  /** Creates a checkout whose program is `main`. */
  checkout(main: string): string {
    const root = join(this.folder, "checkout");
    for (const part of ["bin", "scripts", "package.json"]) {
      cpSync(join(CHECKOUT, part), join(root, part), { recursive: true });
    }
    writeFileSync(join(root, "package-lock.json"), lockfile("1.0.0"));
    mkdirSync(join(root, "src", "cli"), { recursive: true });
    writeFileSync(join(root, "src", "cli", "main.ts"), main);
    return root;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Returns a lockfile of one package in this version. */
export function lockfile(version: string): string {
  const packages = { "": { name: "payrun" }, "node_modules/left": { version } };
  return JSON.stringify({ name: "payrun", lockfileVersion: 3, packages });
}

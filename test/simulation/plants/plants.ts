import { OF_ANSWERS } from "./of-answers.ts";
import { OF_KEYS } from "./of-keys.ts";
import { OF_LOOKUPS } from "./of-lookups.ts";
import { OF_PEOPLE } from "./of-people.ts";
import type { Plant } from "./plant.ts";

/** Bugs that a rule must catch. */
export const PLANTS: readonly Plant[] = [...OF_KEYS, ...OF_LOOKUPS, ...OF_ANSWERS, ...OF_PEOPLE];

/** Long work in steps: the caller lets other work run between two steps. */
export type Steps<T> = Generator<undefined, T, undefined>;

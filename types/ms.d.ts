// The SDK's Duration type comes from `ms`, whose installed version ships no types:
// without this, every Duration silently becomes `any`.
declare module "ms" {
  type Unit =
    | "ms"
    | "s"
    | "m"
    | "h"
    | "d"
    | "millisecond"
    | "milliseconds"
    | "second"
    | "seconds"
    | "minute"
    | "minutes"
    | "hour"
    | "hours"
    | "day"
    | "days";
  export type StringValue = `${number}` | `${number}${Unit}` | `${number} ${Unit}`;
  export default function ms(value: StringValue): number;
}

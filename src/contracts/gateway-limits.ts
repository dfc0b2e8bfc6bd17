/** What a gateway gives one caller and all of them together; rates are requests a second. */
export interface GatewayLimits {
  readonly connections: number;
  readonly connectionsPerAddress: number;
  readonly ratePerToken: number;
  readonly ratePerAddress: number;
  /** Of one business's endpoint, from one address: a stranger can't use up the service's share. */
  readonly webhookRate: number;
  /** Until the headers of a request are there. */
  readonly headersTimeoutMs: number;
  /** Until the whole of it is. */
  readonly requestTimeoutMs: number;
}

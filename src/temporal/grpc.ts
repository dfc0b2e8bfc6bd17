import { isGrpcServiceError } from "@temporalio/client";

/** Status codes of gRPC. */
export const GRPC = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unavailable: 14,
} as const;

/** Returns the status with which Temporal has refused a call; undefined for any other error. */
export function grpcCode(error: unknown): number | undefined {
  return refusalIn(error)?.code;
}

/** Returns what Temporal says of a refused call; empty if it says nothing. */
export function grpcDetails(error: unknown): string {
  return refusalIn(error)?.details ?? "";
}

/** The client wraps what the server says in errors of its own. */
function refusalIn(error: unknown) {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (isGrpcServiceError(at)) return at;
  }
  return undefined;
}

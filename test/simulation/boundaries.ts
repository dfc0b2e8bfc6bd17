/** The boundary after a gate has let something through and before its process sends it. */
export const LET_THROUGH = "committed a send";

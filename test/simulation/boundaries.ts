/** A gate has let something through, and its process goes on to send it. */
export const LET_THROUGH = "committed a send";

package io.penstock.examples.pressure;

/// Result of reading blocks.
///
/// @param blocks requested
/// @param missing not there
/// @param wrong with other bytes than were put
record Reads(long blocks, long missing, long wrong) {
  static final Reads NONE = new Reads(0, 0, 0);

  Reads plus(Reads more) {
    return new Reads(blocks + more.blocks, missing + more.missing, wrong + more.wrong);
  }
}

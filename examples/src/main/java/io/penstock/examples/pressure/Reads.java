package io.penstock.examples.pressure;

/// What came of reading blocks.
///
/// @param blocks asked for
/// @param missing not there
/// @param wrong with other bytes than were put
record Reads(long blocks, long missing, long wrong) {
  static final Reads NONE = new Reads(0, 0, 0);

  Reads plus(Reads more) {
    return new Reads(blocks + more.blocks, missing + more.missing, wrong + more.wrong);
  }
}

package io.penstock.storage.engine;

import io.penstock.check.Checks;

/// The place of a record: constant as long as its segment exists, also after a restart.
///
/// @param segment number of the segment, from 1
/// @param offset of the record's first byte inside the segment
/// @param length of the record in bytes
public record Location(int segment, long offset, int length) {
  public Location {
    Checks.positive("segment", segment);
    Checks.notNegative("offset", offset);
    Checks.positive("length", length);
  }
}

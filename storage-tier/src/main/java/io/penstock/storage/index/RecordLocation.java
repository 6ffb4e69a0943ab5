package io.penstock.storage.index;

import io.penstock.storage.engine.Location;

/// The place of a record, and values that distinguish it from any other record.
///
/// @param at the bytes of the record
/// @param sequence of the record
/// @param headCrc CRC of its head, which has the CRCs of all granules
public record RecordLocation(Location at, long sequence, int headCrc) {
  public int segment() {
    return at.segment();
  }
}

package io.penstock.storage;

import io.penstock.storage.engine.Location;

/// Where a record lies, and what tells it from any other.
///
/// @param at the bytes of the record
/// @param sequence of the record
/// @param headCrc CRC of its head; in it are the CRCs of all granules
record RecordLocation(Location at, long sequence, int headCrc) {
  int segment() {
    return at.segment();
  }
}

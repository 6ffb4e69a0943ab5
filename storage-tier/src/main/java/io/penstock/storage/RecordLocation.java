package io.penstock.storage;

import io.penstock.storage.engine.Location;

/// The place of a record, and what tells it from any other record.
///
/// @param at the bytes of the record
/// @param sequence of the record
/// @param headCrc CRC of its head, which has the CRCs of all granules
record RecordLocation(Location at, long sequence, int headCrc) {
  int segment() {
    return at.segment();
  }
}

package io.penstock.node.cluster.quota;

import io.penstock.wire.cluster.SharedTable;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/// What a member tells of a space that has a quota, as a value of a [SharedTable]: a version, which is the number
/// of the telling, and then the fields. Each start of a member has a name of its own in the table.
///
/// @param node name of the member
/// @param generation of its start
/// @param number of the telling
/// @param space name of the space there
/// @param bytes of its blocks there
/// @param quotaBytes most bytes at all members, as that member was told
record SpaceTelling(String node, long generation, long number, String space, long bytes, long quotaBytes) {
  byte[] write() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeLong(number);
      out.writeLong(0);
      out.writeLong(0);
      out.writeUTF(node);
      out.writeLong(generation);
      out.writeUTF(space);
      out.writeLong(this.bytes);
      out.writeLong(quotaBytes);
    } catch (IOException e) {
      throw new IllegalStateException("memory takes all bytes", e);
    }
    return bytes.toByteArray();
  }

  /// @throws IOException if the bytes end too early
  static SpaceTelling read(byte[] value) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(value));
    long number = in.readLong();
    in.skipNBytes(SharedTable.VERSION_BYTES - Long.BYTES);
    return new SpaceTelling(in.readUTF(), in.readLong(), number, in.readUTF(), in.readLong(), in.readLong());
  }
}

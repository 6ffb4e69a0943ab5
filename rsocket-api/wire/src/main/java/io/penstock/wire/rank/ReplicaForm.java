package io.penstock.wire.rank;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/// The data-parallel replica of a request as bytes for members of a cluster: a version, by which the lower replica is
/// the later one, the request as `DataOutput` writes text, and 4 bytes of the replica.
///
/// @param replica that has the request
record ReplicaForm(String request, int replica) {
  byte[] write() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeLong(Integer.MAX_VALUE - replica);
      out.writeLong(0);
      out.writeLong(0);
      out.writeUTF(request);
      out.writeInt(replica);
    } catch (IOException e) {
      throw new IllegalStateException("memory takes all bytes", e);
    }
    return bytes.toByteArray();
  }

  /// @throws IOException if the bytes end too early
  static ReplicaForm read(byte[] bytes) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
    in.skipNBytes(3 * Long.BYTES);
    return new ReplicaForm(in.readUTF(), in.readInt());
  }
}

package io.penstock.wire.rank;

import io.penstock.disagg.RankId;
import io.penstock.disagg.registry.SignOfLife;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/// The signs of life that one registry has received, as bytes for members of a cluster. Big-endian; text as
/// `DataOutput` writes it.
///
/// | Bytes | |
/// |---|---|
/// | 8, 16 | version: number of the telling, and zeros |
/// | 4 | number of instances; for each of them the rest |
/// | text, 4 | its name, and the number of its ranks; for each of them the rest |
/// | 4, 8, 4 | number, generation, milliseconds since the rank was heard |
final class SignsForm {
  private SignsForm() {}

  static byte[] write(long telling, List<SignOfLife> signs) {
    Map<String, List<SignOfLife>> byInstance =
        signs.stream().collect(Collectors.groupingBy(sign -> sign.rank().instance()));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeLong(telling);
      out.writeLong(0);
      out.writeLong(0);
      out.writeInt(byInstance.size());
      for (Map.Entry<String, List<SignOfLife>> each : byInstance.entrySet()) {
        out.writeUTF(each.getKey());
        out.writeInt(each.getValue().size());
        for (SignOfLife sign : each.getValue()) {
          out.writeInt(sign.rank().rank());
          out.writeLong(sign.generation());
          out.writeInt((int) Math.min(TimeUnit.NANOSECONDS.toMillis(sign.ageNanos()), Integer.MAX_VALUE));
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException("memory takes all bytes", e);
    }
    return bytes.toByteArray();
  }

  /// @throws IOException if the bytes end too early
  /// @throws RuntimeException if they say what no release knows
  static List<SignOfLife> read(byte[] bytes) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
    in.skipNBytes(3 * Long.BYTES);
    List<SignOfLife> signs = new ArrayList<>();
    for (int instances = in.readInt(); instances > 0; instances--) {
      String instance = in.readUTF();
      for (int ranks = in.readInt(); ranks > 0; ranks--) {
        signs.add(new SignOfLife(new RankId(instance, in.readInt()), in.readLong(),
            TimeUnit.MILLISECONDS.toNanos(in.readInt())));
      }
    }
    return signs;
  }
}

package io.penstock.device.sidecar.link;

import io.penstock.device.SharedName.FabricHandle;
import io.penstock.device.SharedName.IpcKey;
import io.penstock.device.sidecar.RegionSource.FabricBuffer;
import io.penstock.device.sidecar.RegionSource.IpcBuffer;
import io.penstock.device.sidecar.RegionSource.MappedFile;
import io.penstock.device.sidecar.RegionSource.Memfd;
import io.penstock.device.sidecar.RegionSpec;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// A region as bytes: id (u64), bytes (u64), kind (u8), number (u32), length of a name (u16), the name.
final class RegionCodec {
  private static final int MEMFD = 1;
  private static final int FILE = 2;
  private static final int IPC = 3;
  private static final int FABRIC = 4;
  private static final int MAX_NAME = MappedFile.MAX_PATH_BYTES;

  /// Longest there is.
  static final int MAX_BYTES = 8 + 8 + 1 + 4 + 2 + MAX_NAME;

  private RegionCodec() {}

  static void put(RegionSpec region, ByteBuffer out) {
    out.putLong(region.id()).putLong(region.bytes());
    switch (region.source()) {
      case Memfd memfd -> put(out, MEMFD, memfd.descriptor(), new byte[0]);
      case MappedFile file -> put(out, FILE, 0, file.path().toString().getBytes(StandardCharsets.UTF_8));
      case IpcBuffer buffer -> put(out, IPC, buffer.device(), buffer.key().bytes());
      case FabricBuffer buffer -> put(out, FABRIC, buffer.device(), buffer.handle().bytes());
    }
  }

  private static void put(ByteBuffer out, int kind, int number, byte[] name) {
    out.put((byte) kind).putInt(number).putShort((short) name.length).put(name);
  }

  /// @throws IllegalArgumentException if it is none
  static RegionSpec get(ByteBuffer in) {
    long id = in.getLong();
    long bytes = in.getLong();
    int kind = in.get();
    int number = in.getInt();
    byte[] name = new byte[Math.min(Short.toUnsignedInt(in.getShort()), MAX_NAME + 1)];
    in.get(name);
    return new RegionSpec(id, bytes, switch (kind) {
      case MEMFD -> new Memfd(number);
      case FILE -> new MappedFile(Path.of(new String(name, StandardCharsets.UTF_8)));
      case IPC -> new IpcBuffer(number, IpcKey.of(name));
      case FABRIC -> new FabricBuffer(number, FabricHandle.of(name));
      default -> throw new IllegalArgumentException("unknown kind of region " + kind);
    });
  }
}

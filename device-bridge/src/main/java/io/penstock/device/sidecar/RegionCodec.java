package io.penstock.device.sidecar;

import io.penstock.device.DeviceHandle;
import io.penstock.device.DeviceHandle.Kind;
import io.penstock.device.sidecar.RegionSource.DeviceBuffer;
import io.penstock.device.sidecar.RegionSource.MappedFile;
import io.penstock.device.sidecar.RegionSource.Memfd;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/// A region as bytes: id (u64), bytes (u64), kind (u8), number (u32), length of a name (u16), the name.
final class RegionCodec {
  private static final int MEMFD = 1;
  private static final int FILE = 2;
  private static final int IPC = 3;
  private static final int FABRIC = 4;
  private static final int MAX_NAME = 4096;

  /// Longest there is.
  static final int MAX_BYTES = 8 + 8 + 1 + 4 + 2 + MAX_NAME;

  private RegionCodec() {}

  static void put(SharedRegion region, ByteBuffer out) {
    out.putLong(region.id()).putLong(region.bytes());
    switch (region.source()) {
      case Memfd memfd -> put(out, MEMFD, memfd.descriptor(), new byte[0]);
      case MappedFile file -> put(out, FILE, 0, file.path().toString().getBytes(StandardCharsets.UTF_8));
      case DeviceBuffer buffer -> put(out, buffer.handle().kind() == Kind.IPC ? IPC : FABRIC, buffer.device(), buffer.handle().bytes());
    }
  }

  private static void put(ByteBuffer out, int kind, int number, byte[] name) {
    if (name.length > MAX_NAME) {
      throw new IllegalArgumentException("path must be at most " + MAX_NAME + " bytes long (was " + name.length + ")");
    }
    out.put((byte) kind).putInt(number).putShort((short) name.length).put(name);
  }

  /// @throws IllegalArgumentException if it is none
  static SharedRegion get(ByteBuffer in) {
    long id = in.getLong();
    long bytes = in.getLong();
    int kind = in.get();
    int number = in.getInt();
    byte[] name = new byte[Math.min(Short.toUnsignedInt(in.getShort()), MAX_NAME + 1)];
    in.get(name);
    return new SharedRegion(id, bytes, switch (kind) {
      case MEMFD -> new Memfd(number);
      case FILE -> new MappedFile(Path.of(new String(name, StandardCharsets.UTF_8)));
      case IPC -> new DeviceBuffer(number, new DeviceHandle(Kind.IPC, name));
      case FABRIC -> new DeviceBuffer(number, new DeviceHandle(Kind.FABRIC, name));
      default -> throw new IllegalArgumentException("unknown kind of region " + kind);
    });
  }
}

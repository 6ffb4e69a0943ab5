package io.penstock.wire.protocol;

import io.penstock.block.SpaceId;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Rules for the fields of a control message: each check throws a [WireFormatException] that names the field, or
/// returns the value.
public final class Fields {
  private Fields() {}

  public static byte[] bytes(SpaceId space) {
    ByteBuffer bytes = ByteBuffer.allocate(SpaceId.BYTES);
    space.write(bytes);
    return bytes.array();
  }

  public static SpaceId spaceId(String field, byte @Nullable [] bytes) {
    return SpaceId.read(ByteBuffer.wrap(exactly(field, bytes, SpaceId.BYTES)));
  }

  static void requireTicket(long ticket) {
    if (ticket < 0) {
      throw WireFormatException.request("ticket", ">= 0", ticket);
    }
  }

  public static <T> T present(String field, @Nullable T value) {
    if (value == null) {
      throw WireFormatException.request(field, "present", "absent");
    }
    return value;
  }

  public static <T> List<T> copied(String field, @Nullable List<T> list) {
    List<T> copy = new ArrayList<>();
    for (T element : present(field, list)) {
      copy.add(present(field + "[" + copy.size() + "]", element));
    }
    return copy;
  }

  static byte[] exactly(String field, byte @Nullable [] bytes, int length) {
    if (bytes == null || bytes.length != length) {
      throw WireFormatException.request(field, length + " bytes", bytes == null ? "absent" : bytes.length);
    }
    return bytes;
  }

  public static <E extends Enum<E>> E oneOf(Class<E> type, String field, @Nullable String name) {
    String wanted = present(field, name);
    for (E constant : type.getEnumConstants()) {
      if (constant.name().equals(wanted)) {
        return constant;
      }
    }
    throw WireFormatException.request(field, "one of " + List.of(type.getEnumConstants()), wanted);
  }
}

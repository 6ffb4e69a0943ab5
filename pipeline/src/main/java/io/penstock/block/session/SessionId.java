package io.penstock.block.session;

import static java.util.Objects.requireNonNull;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/// Name of a session: 1 to [#MOST_BYTES] bytes that the client chose, without a meaning here. Immutable.
///
/// A session is of one space. Sessions of equal names in two spaces have nothing in common.
public final class SessionId {
  /// Maximum length of a name.
  public static final int MOST_BYTES = 64;

  private final byte[] bytes;

  private SessionId(byte[] bytes) {
    if (bytes.length == 0 || bytes.length > MOST_BYTES) {
      throw new IllegalArgumentException("session must be of 1 to " + MOST_BYTES + " bytes (was " + bytes.length + ")");
    }
    this.bytes = bytes;
  }

  /// @param bytes copied
  public static SessionId of(byte[] bytes) {
    return new SessionId(requireNonNull(bytes, "bytes").clone());
  }

  /// @param name in UTF-8
  public static SessionId of(String name) {
    return new SessionId(name.getBytes(StandardCharsets.UTF_8));
  }

  /// A copy of the name.
  public byte[] bytes() {
    return bytes.clone();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SessionId that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /// The name in hexadecimal digits.
  @Override
  public String toString() {
    return HexFormat.of().formatHex(bytes);
  }
}

package io.penstock.wire.transfer;

import static java.util.Objects.requireNonNull;

import java.nio.charset.StandardCharsets;

/// A message that came after all items of a batch completed here.
///
/// @param sender name of the engine that sent it
public record Notification(String sender, String message) {
  /// Maximum bytes of a message in UTF-8.
  public static final int LONGEST_BYTES = 4096;

  public Notification {
    Segment.requireName(sender);
    requireMessage(message);
  }

  static String requireMessage(String message) {
    int bytes = requireNonNull(message, "message").getBytes(StandardCharsets.UTF_8).length;
    if (bytes > LONGEST_BYTES) {
      throw new IllegalArgumentException("message must be of <= " + LONGEST_BYTES + " bytes (was of " + bytes + ")");
    }
    return message;
  }
}

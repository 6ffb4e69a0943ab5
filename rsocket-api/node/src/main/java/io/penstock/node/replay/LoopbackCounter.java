package io.penstock.node.replay;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Bytes that the loopback interface of the kernel received: a count of the bytes on the wire that Penstock does not
/// keep.
///
/// It includes all programs of the machine, headers and acknowledgements. Reads a file, so it is not for an event loop.
///
/// @param table the kernel's table of network interfaces
public record LoopbackCounter(Path table) {
  private static final String NAME = "lo:";

  /// The one of this machine's kernel.
  public static LoopbackCounter ofKernel() {
    return new LoopbackCounter(Path.of("/proc/net/dev"));
  }

  /// Bytes received since the machine started; null where the kernel keeps no such table or no such interface.
  public @Nullable Long receivedBytes() {
    if (!Files.isReadable(table)) {
      return null;
    }
    try {
      return received(Files.readAllLines(table));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Bytes received since `before` was read; null if one of the two is unknown.
  @Nullable Long receivedSince(@Nullable Long before) {
    Long now = receivedBytes();
    return before == null || now == null ? null : (Long) (now - before);
  }

  private static @Nullable Long received(List<String> lines) {
    for (String line : lines) {
      String row = line.strip();
      if (row.startsWith(NAME)) {
        return Long.valueOf(row.substring(NAME.length()).strip().split("\\s+", 2)[0]);
      }
    }
    return null;
  }
}

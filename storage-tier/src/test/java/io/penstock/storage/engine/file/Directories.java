package io.penstock.storage.engine.file;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/// Copies of directories: what a crash leaves is what the files hold at that moment.
public final class Directories {
  private Directories() {}

  /// Copies everything below `from` to `to`, which must not be there. A file that is deleted meanwhile, as an old
  /// checkpoint is, is left out.
  public static Path copy(Path from, Path to) {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        copyIfThere(file, to.resolve(from.relativize(file)));
      }
      return to;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void copyIfThere(Path file, Path to) throws IOException {
    try {
      Files.copy(file, to);
    } catch (NoSuchFileException e) {
      if (Files.exists(file)) {
        throw e;
      }
    }
  }

  /// The one file below `directory` whose name ends with `suffix` that is last in order.
  public static Path last(Path directory, String suffix) {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(file -> file.toString().endsWith(suffix)).max(Comparator.comparing(Path::getFileName))
          .orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Writes into `bytes` at `at` what says that a file holds segment `number`.
  public static void segmentHead(byte[] bytes, int at, int number) {
    ByteBuffer head = SegmentHead.of(number);
    head.get(0, bytes, at, SegmentHead.BYTES);
  }
}

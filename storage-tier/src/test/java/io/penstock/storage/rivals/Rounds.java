package io.penstock.storage.rivals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;

/// One round of one rival: how many bytes in how long.
final class Rounds {
  /// Batches that a writer has on their way: no rival with a thread of its own waits for the next one.
  private static final int PUTS = 4;

  private Rounds() {}

  /// Puts all blocks; GB/s from the first put to the last promise.
  static double append(Rival rival, Contest contest, Sources sources) {
    int size = contest.batchBlocks();
    long began = System.nanoTime();
    Flux.range(0, contest.batches()).flatMap(i -> rival.put(sources.batch(i, size)), PUTS, 1).blockLast();
    return rate((long) contest.batches() * size * contest.blockBytes(), began);
  }

  /// Another one begins each round, for one that comes before may leave work behind.
  static List<RivalKind> rotated(List<RivalKind> kinds, int round) {
    List<RivalKind> turned = new ArrayList<>(kinds);
    Collections.rotate(turned, round);
    return turned;
  }

  /// Bytes in a nanosecond are GB in a second.
  static double rate(long bytes, long began) {
    return (double) bytes / (System.nanoTime() - began);
  }

  /// Deletes a folder and all that is in it.
  static void delete(Path folder) {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

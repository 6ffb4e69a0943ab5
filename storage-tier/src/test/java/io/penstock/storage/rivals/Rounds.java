package io.penstock.storage.rivals;

import io.penstock.block.BlockDraft;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// One round of one rival: how many bytes in how long.
final class Rounds {
  /// Batches that whoever puts has on their way: no rival with a thread of its own waits for the next one.
  private static final int PUTS = 4;

  private Rounds() {}

  /// Puts all blocks; GB/s from the first put to the last promise.
  static double append(Rival rival, Contest contest, Sources sources) {
    int size = contest.batchBlocks();
    long began = System.nanoTime();
    Flux.range(0, contest.batches()).flatMap(i -> rival.put(sources.batch(i, size)), PUTS, 1).blockLast();
    return rate((long) contest.batches() * size * contest.blockBytes(), began);
  }

  /// Reads `reads` batches of blocks chosen by chance, in as many threads as the contest has; GB/s.
  static double read(Rival rival, Contest contest, Sources sources, int reads, long seed) {
    int size = contest.batchBlocks();
    return read(rival, contest, sources, (chain, i) -> {
      SplittableRandom random = new SplittableRandom(seed + (long) chain * reads + i);
      return random.ints(size, 0, contest.blocks()).toArray();
    }, reads, size);
  }

  /// Reads each block of `order` once, one at a time in as many threads as the contest has; GB/s.
  static double readEach(Rival rival, Contest contest, Sources sources, int[] order) {
    return read(rival, contest, sources, (chain, i) -> new int[] {order[i]}, order.length, 1);
  }

  /// The blocks of a read.
  private interface Choice {
    int[] numbers(int chain, int read);
  }

  private static double read(Rival rival, Contest contest, Sources sources, Choice choice, int reads, int size) {
    int chains = rival.hasThreads() && size > 1 ? 2 * contest.threads() : contest.threads(); // there is always one that waits
    int each = reads / chains;
    Scheduler threads = Schedulers.newParallel("rival", contest.threads(), true);
    try {
      long began = System.nanoTime();
      Flux.range(0, chains).flatMap(chain -> {
        int[] done = {chain * each};
        Mono<Void> one = Mono.defer(() -> one(rival, sources, choice.numbers(chain, done[0]++)));
        Mono<Void> all = one.repeat(each - 1).then();
        return rival.hasThreads() ? all : all.subscribeOn(threads);
      }, chains, 1).blockLast();
      return rate((long) chains * each * size * contest.blockBytes(), began);
    } finally {
      threads.dispose();
    }
  }

  private static Mono<Void> one(Rival rival, Sources sources, int[] numbers) {
    List<BlockDraft> drafts = sources.drafts(numbers);
    return rival.read(numbers, drafts).doOnTerminate(() -> sources.done(drafts));
  }

  /// Bytes in a nanosecond are GB in a second.
  private static double rate(long bytes, long began) {
    return (double) bytes / (System.nanoTime() - began);
  }

  static long length(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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

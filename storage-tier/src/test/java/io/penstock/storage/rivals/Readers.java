package io.penstock.storage.rivals;

import io.penstock.block.BlockDraft;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// Readers of blocks: each has one batch on its way at a time. A rival with threads of its own gets as many as the
/// contest has; the others are called by as many.
final class Readers implements AutoCloseable {
  private final Contest contest;
  private final Scheduler threads;
  private final List<Targets> targets = new ArrayList<>();

  /// @param most readers at a time
  Readers(Contest contest, Sources sources, int most) {
    this.contest = contest;
    this.threads = Schedulers.newParallel("rival", contest.threads(), true);
    for (int i = 0; i < most; i++) {
      targets.add(new Targets(contest, sources));
    }
  }

  /// The blocks of a read.
  interface Choice {
    int[] numbers(int reader, int read);
  }

  /// Reads of all `readers`, so many each; GB/s.
  double read(Rival rival, int readers, int reads, int batchBlocks, Choice choice) {
    long began = System.nanoTime();
    Flux.range(0, readers).flatMap(reader -> reader(rival, reader, reads, choice), readers, 1).blockLast();
    return Rounds.rate((long) readers * reads * batchBlocks * contest.blockBytes(), began);
  }

  private Mono<Void> reader(Rival rival, int reader, int reads, Choice choice) {
    Targets into = targets.get(reader);
    int[] done = {0};
    Mono<Void> all = Mono.defer(() -> one(rival, into, choice.numbers(reader, done[0]++))).repeat(reads - 1).then();
    return rival.hasThreads() ? all : all.subscribeOn(threads);
  }

  private static Mono<Void> one(Rival rival, Targets into, int[] numbers) {
    List<BlockDraft> drafts = into.drafts(numbers);
    return rival.read(numbers, drafts).doOnTerminate(() -> into.done(drafts));
  }

  @Override
  public void close() {
    threads.dispose();
    targets.forEach(Targets::close);
  }
}

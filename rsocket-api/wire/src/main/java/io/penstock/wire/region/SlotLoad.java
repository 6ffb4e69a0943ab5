package io.penstock.wire.region;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Copies blocks to slots: one decision on all keys, then window after window, each block compared with its checksums
/// before the first of its bytes is copied. A damaged block fails alone: the decision on the rest is made again.
final class SlotLoad {
  private final SlotJob job;
  private volatile boolean isLate;

  SlotLoad(SlotJob job) {
    this.job = job;
  }

  /// For one subscriber.
  Mono<RegionMessages.SlotsReply> reply() {
    return attempt(IntStream.range(0, job.keys.size()).boxed().toList())
        .then(Mono.fromSupplier(() -> job.reply(isLate ? SlotJob.LATE : SlotJob.MISSING)));
  }

  /// @param positions of which nothing is known
  private Mono<Void> attempt(List<Integer> positions) {
    if (positions.isEmpty() || isLate) {
      return Mono.empty();
    }
    List<BlockKey> keys = positions.stream().map(job.keys::get).toList();
    return job.tier.lease(keys, OnMiss.SKIP, job.session, job.scope)
        .flatMap(lease -> copied(lease, positions).doFinally(any -> lease.close()))
        .onErrorResume(BlockCorruptException.class, damaged -> without(damaged, positions));
  }

  private Mono<Void> without(BlockCorruptException damaged, List<Integer> positions) {
    int lost = job.keys.indexOf(damaged.key());
    if (lost < 0 || !job.isOpen(lost)) {
      return Mono.error(damaged);
    }
    job.failed(lost, SlotJob.CORRUPT);
    return Mono.defer(() -> attempt(positions.stream().filter(job::isOpen).toList()));
  }

  private Mono<Void> copied(Lease lease, List<Integer> positions) {
    for (int i = 0; i < positions.size(); i++) {
      if (!lease.found().get(i)) {
        job.failed(positions.get(i), SlotJob.MISSING);
      }
    }
    return inTime(lease.windows(job.windowBlocks(), job.scope))
        .concatMapDelayError(window -> job.copied(() -> window.forEach(one -> copy(one, positions)), false), false, 1)
        .then(); // an error waits for the copy that runs: after the answer no slot is touched
  }

  private <T> Flux<T> inTime(Flux<T> windows) {
    Duration left = job.left();
    return left == null
        ? windows
        : windows.takeUntilOther(Mono.delay(left, job.terms().timers()).doOnNext(over -> isLate = true));
  }

  private void copy(LeasedBlock one, List<Integer> positions) {
    int position = positions.get(one.position());
    one.block().read(memory -> {
      job.region().write(memory, job.slot(position), job.terms().sliceBytes(), job.scope::isClosed);
      return memory.byteSize();
    });
    one.block().close();
    job.count(); // throws if not all of it was copied
    job.done(position);
  }
}

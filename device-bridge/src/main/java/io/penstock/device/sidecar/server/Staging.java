package io.penstock.device.sidecar.server;

import io.penstock.block.BlockScope;
import io.penstock.block.Owned;
import io.penstock.device.memory.StagingBuffer;
import io.penstock.device.memory.StagingPool;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/// A piece of host memory between two sides without a direct way.
final class Staging {
  private final StagingBuffer buffer;
  private final RefCount holds;

  private Staging(StagingBuffer buffer, RefCount holds) {
    this.buffer = buffer;
    this.holds = holds;
  }

  /// Runs `body` with a buffer, when its turn comes. The buffer goes back when `body` has ended, or was cancelled, and
  /// no share of it is open.
  static Mono<Void> use(StagingPool pool, Function<Staging, Mono<Void>> body) {
    return Mono.defer(() -> {
      BlockScope scope = new BlockScope();
      RefCount holds = new RefCount(scope::close);
      Owned own = holds.share();
      return pool.acquire(scope).flatMap(buffer -> body.apply(new Staging(buffer, holds)))
          .doFinally(end -> own.close());
    });
  }

  MemorySegment memory() {
    return buffer.segment();
  }

  long bytes() {
    return buffer.segment().byteSize();
  }

  Owned share() {
    return holds.share();
  }
}

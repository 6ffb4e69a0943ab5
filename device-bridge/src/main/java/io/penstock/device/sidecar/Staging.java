package io.penstock.device.sidecar;

import io.penstock.block.Owned;
import io.penstock.block.Permits;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/// A piece of host memory between two places that have no way of their own.
final class Staging {
  private static final long BYTES = 1 << 20;
  private static final long ALIGNMENT = 4096;

  private final MemorySegment memory;
  private final Holds holds;

  private Staging(MemorySegment memory, Holds holds) {
    this.memory = memory;
    this.holds = holds;
  }

  /// Runs `body` with one, when its turn comes.
  static Mono<Void> use(Permits permits, Function<Staging, Mono<Void>> body) {
    return Mono.<Staging>create(sink -> permits.acquire(1, () -> sink.success(allocate(permits)), sink::error))
        .flatMap(stage -> {
          Owned share = stage.share();
          return body.apply(stage).doFinally(end -> share.close());
        });
  }

  private static Staging allocate(Permits permits) {
    Arena arena = Arena.ofShared();
    return new Staging(arena.allocate(BYTES, ALIGNMENT), new Holds(() -> {
      arena.close();
      permits.release(1);
    }));
  }

  MemorySegment memory() {
    return memory;
  }

  long bytes() {
    return memory.byteSize();
  }

  Owned share() {
    return holds.share();
  }
}

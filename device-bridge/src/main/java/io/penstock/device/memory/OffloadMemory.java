package io.penstock.device.memory;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Mono;

/// Memory for direct access to a disk: addresses and sizes are multiples of 4,096 bytes. The first source that has
/// memory gives it: the device's own, so that a copy needs no buffer between; then large pages; then plain ones. It is
/// freed through the same source.
public final class OffloadMemory implements HostMemorySource {
  /// Alignment that direct access to a disk requires of addresses, lengths and file offsets.
  public static final int ALIGNMENT_BYTES = 4096;

  private final List<HostMemorySource> sources;
  private final MemoryListener listener;

  /// @param sources the best first
  public OffloadMemory(List<HostMemorySource> sources, MemoryListener listener) {
    if (sources.isEmpty()) {
      throw new IllegalArgumentException("sources must be some (was none)");
    }
    this.sources = List.copyOf(sources);
    this.listener = requireNonNull(listener, "listener");
  }

  /// `bytes` up to the next multiple of [#ALIGNMENT_BYTES].
  public static long rounded(long bytes) {
    return Math.ceilDiv(bytes, ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
  }

  @Override
  public String name() {
    return "memory for a disk";
  }

  /// Rounds `bytes` up.
  @Override
  public Mono<HostMemory> allocate(long bytes, BlockScope scope) {
    requireNonNull(scope, "scope");
    Checks.positive("bytes", bytes);
    return Mono.defer(() -> from(0, rounded(bytes), scope, new ArrayList<>()));
  }

  private Mono<HostMemory> from(int index, long bytes, BlockScope scope, List<Fallback> refused) {
    HostMemorySource source = sources.get(index);
    return source.allocate(bytes, scope).doOnNext(memory -> requireAligned(source, memory))
        .onErrorResume(HostMemoryRefusedException.class, e -> {
          refused.addAll(e.tried());
          if (index + 1 == sources.size()) {
            return Mono.error(new HostMemoryRefusedException(name(), bytes, refused));
          }
          e.tried().forEach(each -> listener.fellBack(source.name(), each));
          return from(index + 1, bytes, scope, refused);
        });
  }

  /// An allocator may promise it and not keep it.
  private static void requireAligned(HostMemorySource source, HostMemory memory) {
    if (memory.address() % ALIGNMENT_BYTES != 0) {
      memory.close();
      throw new HostMemoryRefusedException(source.name(), memory.bytes(), List.of(new Fallback(memory.pages().label(),
          "%#x is not a multiple of %d".formatted(memory.address(), ALIGNMENT_BYTES))));
    }
  }
}
